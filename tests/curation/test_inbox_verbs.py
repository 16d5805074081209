"""Verbs in the inbox: one verb, then the next record; with an edit, with its undo, or with a pair."""

from __future__ import annotations

import pytest
from django.urls import reverse

from curation.models import SuggestedPair
from decisions.actions import create_decision
from decisions.models import Decision
from records import verbs
from records.models import ReviewState, Revision
from tests.curation.inbox_pages import counts, keys, url
from tests.records.samples import write_as_sql

pytestmark = pytest.mark.django_db


class TestTheVerbs:
    def post(self, client, record, verb, query="?sort=risk", **fields):
        return client.post(f"{url('act')}{query}", {"node_id": record.node_id, "verb": verb, **fields})

    def test_after_it_the_next_record_is_open_and_the_list_stays_as_it_was_asked_for(
        self, as_curator, agent, project
    ):
        first, second, third = (
            create_decision(actor=agent, project=project, title=f"T {n}", decision=f"x {n}") for n in range(3)
        )
        answer = self.post(
            as_curator, second, "approve", "?sort=newest&kind=decision&selected=dec_9", version=1
        )
        assert answer.status_code == 303
        assert answer.url == url() + f"?sort=newest&kind=decision&selected={first.node_id}"
        page = as_curator.get(answer.url)
        assert keys(page) == [third.node_id, first.node_id]
        assert page.context["record"].node_id == first.node_id
        assert counts(page)["To review"] == "2"
        assert [str(message) for message in page.context["messages"]] == [f"{second.node_id}: approved"]
        assert self.post(as_curator, first, "approve", "").url == url(selected=third.node_id)
        assert self.post(as_curator, third, "approve", "").url == url()
        assert "Inbox zero" in as_curator.get(url()).content.decode()

    def test_reject_asks_why_and_takes_a_chosen_reason(self, as_curator, decision):
        self.post(as_curator, decision, "reject")
        assert Decision.objects.get().review_state == ReviewState.UNREVIEWED
        assert "Say why" in as_curator.get(url()).content.decode()
        self.post(as_curator, decision, "reject", preset="Out of date", reason="")
        assert Decision.objects.get().review_state == ReviewState.REJECTED
        assert Revision.objects.get(verb="reject").reason == "Out of date"

    def test_somebody_who_saved_first_is_not_overruled(self, as_curator, decision, curator):
        verbs.update([decision], {"title": "Use Valkey"}, actor=curator)
        answer = self.post(as_curator, decision, "approve", "", version=1)
        assert answer.url == url(selected=decision.node_id)
        assert Decision.objects.get().review_state == ReviewState.UNREVIEWED
        assert "someone else saved it first" in as_curator.get(answer.url).content.decode()

    @pytest.mark.parametrize(
        "fields",
        [{"verb": "explode"}, {"verb": ""}, {"verb": "confirm"}, {"verb": "approve", "version": "seven"}],
    )
    def test_what_makes_no_sense_changes_nothing(self, as_curator, decision, fields):
        answer = self.post(as_curator, decision, **fields)
        assert answer.status_code == 303
        assert Decision.objects.get().version == 1

    @pytest.mark.parametrize("node_id", ["", "dec_999", "nonsense", "dec_1' OR 1=1", "run_" + "0" * 32])
    def test_a_record_that_is_not_there_is_404(self, as_curator, decision, node_id):
        answer = as_curator.post(url("act"), {"node_id": node_id, "verb": "approve"})
        assert answer.status_code == 404

    def test_another_projects_record_is_404(self, as_curator, other_project, curator):
        theirs = create_decision(
            actor=verbs.Actor.command("test"), project=other_project, title="T", decision="x"
        )
        assert self.post(as_curator, theirs, "approve").status_code == 404
        assert as_curator.get(url("pane", selected=theirs.node_id)).context["pane"] is None

    def test_no_such_queue_is_404(self, as_curator, project):
        assert as_curator.get(url(queue="nonsense")).status_code == 404
        assert as_curator.get(url("pane", queue="nonsense")).status_code == 404

    def test_what_has_left_the_queue_is_said(self, as_curator, decision, curator):
        verbs.review([decision], "approved", actor=curator)
        page = as_curator.get(url(selected=decision.node_id))
        assert page.status_code == 200
        assert "No longer in this queue" in page.content.decode()

    def test_a_viewer_sees_no_verbs(self, client, viewer_user, decision):
        client.force_login(viewer_user, backend="django.contrib.auth.backends.ModelBackend")
        text = client.get(url()).content.decode()
        assert decision.title in text
        assert "inbox-verbs" not in text


def test_edit_then_approve_is_one_act_that_is_undone_as_one(as_curator, decision):
    edit = reverse("decisions:edit", args=["shop", decision.pk])
    back = url(sort="risk")
    form = as_curator.get(f"{edit}?then=approve&next={back.replace('?', '%3F')}").content.decode()
    assert "Save and approve" in form
    fields = {
        "title": "Use Valkey",
        "decision": "x",
        "status": "accepted",
        "version": 1,
        "then": "approve",
        "next": back,
    }
    answer = as_curator.post(edit, fields)
    assert (answer.status_code, answer.url) == (303, back)
    saved = Decision.objects.get()
    assert (saved.title, saved.review_state) == ("Use Valkey", ReviewState.APPROVED)
    acts = set(Revision.objects.filter(node_id=decision.node_id, version__gt=1).values_list("act", flat=True))
    assert len(acts) == 1
    as_curator.post(reverse("records:undo", args=["shop", acts.pop()]), {"next": back})
    saved = Decision.objects.get()
    assert (saved.title, saved.review_state) == ("Use Redis", ReviewState.UNREVIEWED)
    assert keys(as_curator.get(back)) == [decision.node_id]


def test_edit_then_confirm_is_both_or_neither(as_curator, decision):
    edit = reverse("decisions:edit", args=["shop", decision.pk])
    fields = {"title": "Use Valkey", "decision": "x", "status": "accepted", "version": 1, "then": "confirm"}
    assert as_curator.post(edit, fields).status_code == 422  # nobody approved it
    assert (Decision.objects.get().title, Decision.objects.get().version) == ("Use Redis", 1)
    write_as_sql(decision, title="By SQL")
    for _twice in range(2):  # what SQL wrote stays seen, so that no second try passes over it
        answer = as_curator.post(edit, fields)
        assert answer.status_code == 409
        assert "By SQL" in answer.content.decode()


def test_a_verb_offers_its_undo(as_curator, decision):
    as_curator.post(url("act"), {"node_id": decision.node_id, "verb": "approve"})
    act = Revision.objects.get(verb="approve").act
    assert reverse("records:undo", args=["shop", act]) in as_curator.get(url()).content.decode()


def test_keep_both_approves_it_and_settles_what_was_suggested_with_it(as_curator, decision, agent, project):
    other = create_decision(actor=agent, project=project, title="Use Redis too", decision="Cache all.")
    pair = SuggestedPair.objects.create(
        project=project,
        sort="duplicate",
        kind="decision",
        first=decision.node_id,
        second=other.node_id,
        score=0.9,
    )
    page = as_curator.get(url(selected=decision.node_id)).content.decode()
    assert 'value="keep_both"' in page
    as_curator.post(url("act"), {"node_id": decision.node_id, "verb": "keep_both", "version": 1})
    pair.refresh_from_db()
    assert (pair.is_open, pair.verdict) == (False, "unrelated")
    assert Decision.objects.get(pk=decision.pk).review_state == ReviewState.APPROVED
    assert (
        len(set(Revision.objects.filter(verb__in=["approve", "settle"]).values_list("act", flat=True))) == 1
    )
    assert 'value="keep_both"' not in as_curator.get(url(selected=other.node_id)).content.decode()

"""One act on many records: on the ticked ones or all that a filter finds, reported one by one, undone as a whole."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from curation.inbox import bulk, bulk_views
from curation.inbox.queues import queue_named
from curation.models import BulkJob
from decisions.actions import create_decision, create_decisions, edit_decision
from decisions.models import Decision
from pitfalls.actions import create_pitfall
from projects.models import Membership, User
from records import verbs
from records.errors import InvalidInput
from records.models import Attention, Revision

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


def url(name="bulk", *arguments, query=""):
    return reverse(f"inbox:{name}", args=["shop", *arguments]) + query


def many(agent, project, count, word="T"):
    rows = [{"title": f"{word} {number}", "decision": f"{word} x {number}"} for number in range(count)]
    return create_decisions(actor=agent, project=project, rows=rows)


def states() -> dict[str, int]:
    found: dict[str, int] = {}
    for state in Decision.objects.values_list("review_state", flat=True):
        found[state] = found.get(state, 0) + 1
    return found


def ticked(records):
    return [f"{record.node_id}:{record.version}" for record in records]


class TestOnTheTicked:
    def test_it_does_those_alone_as_one_act_and_undoes_them_as_one(self, as_curator, agent, project):
        made = many(agent, project, 5)
        pitfall = create_pitfall(actor=agent, project=project, category="c", title="P")
        query = "?sort=risk"
        answer = as_curator.post(
            url(query=query), {"record": ticked([*made[:3], pitfall]), "verb": "approve"}
        )
        assert (answer.status_code, answer.url) == (303, reverse("inbox:page", args=["shop"]) + query)
        assert states() == {"approved": 3, "unreviewed": 2}
        (act,) = set(Revision.objects.filter(verb="approve").values_list("act", flat=True))
        assert BulkJob.objects.get().act == act
        page = as_curator.get(answer.url).content.decode()
        assert "4 records approved" in page
        assert reverse("records:undo", args=["shop", act]) in page
        as_curator.post(reverse("records:undo", args=["shop", act]))
        assert states() == {"unreviewed": 5}
        assert Attention.objects.filter(standing="waiting").count() == 6

    def test_one_that_was_changed_since_the_page_was_drawn_is_reported_and_the_others_go_on(
        self, as_curator, agent, curator, project
    ):
        made = many(agent, project, 4)
        edit_decision(actor=curator, decision=made[1], changes={"title": "Other"})
        verbs.review([made[2]], "rejected", actor=curator, reason="no")
        shown = [*ticked(made), "dec_99999:1", "nonsense:1"]
        answer = as_curator.post(url(), {"record": shown, "verb": "approve"})
        job = BulkJob.objects.get()
        assert answer.url == url("job", job.pk)
        assert states() == {"approved": 2, "unreviewed": 1, "rejected": 1}
        assert {node_id for node_id, _why in job.refused} == {
            made[1].node_id, made[2].node_id, "dec_99999", "nonsense",
        }  # fmt: skip
        page = as_curator.get(answer.url)
        text = page.content.decode()
        assert "4 could not be changed" in text
        assert "someone else saved it first" in text
        assert "not there any more" in text
        lines = b"".join(as_curator.get(answer.url + "?format=csv").streaming_content).decode("utf-8-sig")
        assert len(lines.splitlines()) == 5
        assert lines.startswith("node_id,why")

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"verb": "approve"}, "Nothing is selected"), ({"verb": "explode", "record": "dec_1:1"}, "Must be one of"),
            ({"verb": "confirm", "record": "dec_1:1"}, "Must be one of"), ({"verb": "reject", "record": "dec_1:1"}, "Say why"),
            ({"verb": "reject", "record": "dec_1:1", "reason": "a\x00b"}, "reason"),
        ],
    )  # fmt: skip
    def test_what_makes_no_sense_is_said_and_changes_nothing(self, as_curator, agent, project, fields, said):
        many(agent, project, 1)
        answer = as_curator.post(url(), fields)
        assert answer.status_code == 303
        assert not BulkJob.objects.exists()
        page = as_curator.get(answer.url).content.decode()
        assert said in page or said == "reason"
        assert states() == {"unreviewed": 1}

    def test_another_projects_records_are_not_there(self, as_curator, other_project):
        theirs = create_decision(
            actor=verbs.Actor.command("t"), project=other_project, title="T", decision="x"
        )
        as_curator.post(url(), {"record": ticked([theirs]), "verb": "approve"})
        assert states() == {"unreviewed": 1}
        assert BulkJob.objects.get().refused == [[theirs.node_id, "It is not there any more."]]

    def test_the_report_as_a_file_holds_no_formula(self, as_curator, project):
        answer = as_curator.post(url(), {"record": "=1+1:1", "verb": "approve"})
        lines = b"".join(as_curator.get(answer.url + "?format=csv").streaming_content).decode("utf-8-sig")
        assert lines.splitlines()[1].startswith("'=1+1,")


class TestOnAllThatMatch:
    def test_no_more_are_read_than_could_be_acted_on(self, as_curator, agent, project, monkeypatch):
        read = []

        def matching(asked):
            for number in range(1000):
                read.append(number)
                yield f"dec_{number}"

        monkeypatch.setattr(bulk, "MOST", 5)
        monkeypatch.setattr(bulk_views, "MOST", 5)
        queue = replace(queue_named("review"), matching=matching)
        monkeypatch.setattr(bulk_views, "queue_or_404", lambda asked: queue)
        answer = as_curator.post(url(), {"scope": "all", "verb": "approve"}, follow=True)
        assert "More than 5 records" in answer.content.decode()
        assert len(read) == 6

    def test_it_takes_those_of_the_filter_beyond_the_page(self, as_curator, agent, project):
        many(agent, project, 120, "Redis")
        many(agent, project, 30, "Valkey")
        page = as_curator.get(reverse("inbox:page", args=["shop"]) + "?q=redis").content.decode()
        assert "all 120 matching" in page
        as_curator.post(url(query="?q=redis"), {"scope": "all", "verb": "reject", "reason": "All wrong."})
        assert states() == {"rejected": 120, "unreviewed": 30}

    def test_a_wrong_filter_matches_nothing(self, as_curator, agent, project):
        many(agent, project, 3)
        as_curator.post(url(query="?q=colour:red"), {"scope": "all", "verb": "approve"})
        assert states() == {"unreviewed": 3}

    def test_many_are_done_in_steps_with_progress_and_each_that_could_not_is_told(
        self, as_curator, agent, curator, project, monkeypatch
    ):
        monkeypatch.setattr(bulk, "CHUNK", 100)
        monkeypatch.setattr("curation.inbox.bulk_views.STEP_SECONDS", 0)
        made = many(agent, project, 320)
        answer = as_curator.post(url(), {"scope": "all", "verb": "approve"})
        job = BulkJob.objects.get()
        assert (answer.url, job.done, states()) == (url("job", job.pk), 0, {"unreviewed": 320})
        page = as_curator.get(answer.url).content.decode()
        assert "0 of 320" in page
        assert "Go on" in page
        as_curator.post(url("step", job.pk))
        assert states() == {"approved": 100, "unreviewed": 220}
        for record in made[-7:]:
            edit_decision(actor=curator, decision=record, changes={"title": "Changed meanwhile"})
        for _ in range(3):
            as_curator.post(url("step", job.pk))
        job.refresh_from_db()
        assert (job.done, job.updated, len(job.refused)) == (320, 313, 7)
        assert states() == {"approved": 313, "unreviewed": 7}
        page = as_curator.get(answer.url).content.decode()
        assert "7 could not be changed" in page
        before = Revision.objects.count()
        as_curator.post(url("step", job.pk))  # done already
        assert Revision.objects.count() == before
        assert len(set(Revision.objects.filter(verb="approve").values_list("act", flat=True))) == 1
        as_curator.post(reverse("records:undo", args=["shop", job.act]))
        assert states() == {"unreviewed": 320}

    def test_too_many_are_refused(self, agent, curator, project, monkeypatch):
        monkeypatch.setattr(bulk, "MOST", 2)
        wanted = dict.fromkeys(record.node_id for record in many(agent, project, 3))
        with pytest.raises(InvalidInput):
            bulk.start_job(actor=curator, project=project, verb="approve", wanted=wanted)


def test_who_started_a_job_goes_on_with_it_and_others_only_look(as_curator, client, agent, project, curator):
    job = bulk.start_job(
        actor=curator, project=project, verb="approve", wanted={many(agent, project, 1)[0].node_id: 1}
    )
    other = User.objects.create_user("otto")
    Membership.objects.create(user=other, project=project, role="curator")
    client.force_login(other, backend=BACKEND)
    assert "Started by cleo" in client.get(url("job", job.pk)).content.decode()
    assert client.post(url("step", job.pk)).status_code == 303
    assert "their own name" in client.get(url("job", job.pk)).content.decode()
    assert states() == {"unreviewed": 1}


def test_statements_do_not_grow_with_the_records_of_a_step(agent, curator, project):
    def asked(count, word):
        wanted = dict.fromkeys(record.node_id for record in many(agent, project, count, word))
        job = bulk.start_job(actor=curator, project=project, verb="approve", wanted=wanted)
        with CaptureQueriesContext(connection) as queries:
            bulk.run_job(job, actor=curator, seconds=60)
        return len(queries)

    few = asked(2, "A")
    assert asked(200, "B") <= few + 12  # SQLite takes rows in batches


@pytest.mark.slow
@pytest.mark.database
def test_five_thousand_are_approved_within_ten_seconds(agent, curator, project):
    for part in range(10):
        many(agent, project, 500, f"P{part}")
    wanted = dict.fromkeys(Attention.objects.values_list("node_id", flat=True))
    began = time.monotonic()
    job = bulk.start_job(actor=curator, project=project, verb="approve", wanted=wanted)
    job = bulk.run_job(job, actor=curator, seconds=600)
    took = time.monotonic() - began
    assert (job.updated, job.refused) == (5000, [])
    assert took < 10, f"it took {took:.1f} s"

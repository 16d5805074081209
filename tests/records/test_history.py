"""The history of a record: every act, by whom and through which door, with word diffs; page by page."""

import re
import time

import pytest

from decisions.actions import change_status, edit_decision
from records.models import Revision
from records.sweep import sweep
from records.verbs import review
from tests.records.samples import KINDS, make, page_of, verb_url, write_as_sql

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_one(as_viewer, agent, project, kind):
    record = make(kind, agent, project, "The one")
    page = as_viewer.get(verb_url("history", record)).content.decode()
    for text in ("created", "by order-bot through API", "version 1", record.node_id):
        assert text in page, text
    assert as_viewer.post(verb_url("history", record)).status_code == 405


def test_it_says_who_why_and_what_word_by_word(as_viewer, agent, curator, project):
    decision = make("decision", agent, project, "Use Redis here", tags=["a"])
    edit_decision(
        actor=curator,
        decision=decision,
        changes={"title": "Use Valkey here", "tags": ["a", "b"]},
        reason="<b>renamed</b>",
    )
    write_as_sql(decision, status="deprecated")
    sweep()
    review([decision], "approved", actor=curator, reason="fine")
    page = as_viewer.get(verb_url("history", decision)).content.decode()
    page = re.sub(r'<span class="visually-hidden">(removed|added): </span>', "", page)
    for text in (
        "<del>Redis</del>",
        "<ins>Valkey</ins>",
        "&lt;b&gt;renamed&lt;/b&gt;",
        "by cleo through web",
        "by sql through SQL",
        "approved",
        "“fine”",
        "<del>accepted</del><ins>deprecated</ins>",
        "version 4",
    ):
        assert text in page, text
    assert page.index("approved") < page.index("created")


def test_it_is_read_page_by_page(as_viewer, agent, curator, project):
    decision = make("decision", agent, project)
    for number in range(41):
        change_status(
            actor=curator,
            decisions=[decision],
            status="pending" if number % 2 else "rejected",
            reason=f"act {number:02}",
        )
    seen, address = [], verb_url("history", decision)
    while address:
        answer = as_viewer.get(address, headers={"HX-Request": "true"})
        assert "<html" not in answer.content.decode()
        seen += [act.version for act in answer.context["revisions"]]
        assert all(act.diffs for act in answer.context["revisions"] if act.version > 1)
        older = answer.context["older"]
        address = f"{verb_url('history', decision)}?before={older}" if older else None
    assert seen == list(range(42, 0, -1))
    page = as_viewer.get(page_of(decision)).content.decode()
    assert "act 40" in page
    assert "act 19" not in page


@pytest.mark.parametrize("before", ["", "x", "-1", "0", "1", "9" * 18, "9" * 40, "1.5", "٣", "\x00", "²"])
def test_an_odd_place_to_start_from_is_no_error(as_viewer, agent, project, before):
    decision = make("decision", agent, project)
    assert as_viewer.get(verb_url("history", decision), {"before": before}).status_code == 200


def test_a_rewritten_megabyte_is_compared_in_time(as_viewer, agent, curator, project):
    decision = make("decision", agent, project, decision="alpha beta gamma\n" * 60_000)
    edit_decision(actor=curator, decision=decision, changes={"decision": "delta epsilon zeta\n" * 55_000})
    edit_decision(actor=curator, decision=decision, changes={"decision": "w" * 1_000_000})
    began = time.perf_counter()
    answer = as_viewer.get(verb_url("history", decision))
    assert answer.status_code == 200
    assert time.perf_counter() - began < 20


def test_an_act_of_a_verb_that_is_gone_is_still_named(as_viewer, agent, project):
    decision = make("decision", agent, project)
    from records.revisions import note_event

    note_event(decision, "enchanted", actor=agent, detail={"relation": "OLD", "source": 1})
    note_event(decision, "link", actor=agent, detail={"relation": "LEADS_TO"})
    page = as_viewer.get(verb_url("history", decision)).content.decode()
    assert "enchanted" in page
    assert Revision.objects.count() == 3


def test_a_stranger_finds_none(client, stranger_user, agent, project):
    client.force_login(stranger_user)
    assert client.get(verb_url("history", make("decision", agent, project))).status_code == 404

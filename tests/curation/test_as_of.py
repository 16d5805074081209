"""A record as it was at a time: its columns, links, outcomes and confidence of then; and times that are none."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from curation.history.past import moment_of, record_as_of
from curation.history.past_links import edges_at
from decisions.actions import change_status, edit_decision, record_outcome
from patterns.actions import create_pattern, record_evidence
from records import verbs
from records.acts import one_act
from records.erasing import erase
from records.guard import writing
from records.links import link, link_between, unlink
from records.merging import merge
from records.models import Link, Relation, Revision
from records.undo import undo
from tests.conftest import person
from tests.records.samples import KINDS, make

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
NOW = timezone.now()


def days_ago(number):
    return patch.object(timezone, "now", lambda: NOW - timedelta(days=number))


def at(client, record, text):
    return client.get(f"/p/shop/r/{record.node_id}/as-of/", {"at": text})


def day(number):
    return (NOW - timedelta(days=number)).date().isoformat()


@pytest.fixture
def decision(agent, curator, project):
    """Written 20 days ago, edited 10 days ago, rejected 5 days ago."""
    with days_ago(20):
        made = make("decision", agent, project, "Use Redis", rationale="It is **fast**.", tags=["cache"])
    with days_ago(10):
        made = edit_decision(actor=curator, decision=made, changes={"title": "Use Valkey"})
        change_status(actor=curator, decisions=[made], status="deprecated", reason="licence")
    with days_ago(5):
        verbs.review([made], "rejected", actor=curator, reason="no")
    made.refresh_from_db()
    return made


def test_it_shows_the_text_and_the_states_of_then(as_viewer, decision):
    page = at(as_viewer, decision, day(15))
    text = page.content.decode()
    past = page.context["past"].record
    assert (past.title, past.status, past.review_state) == ("Use Redis", "accepted", "unreviewed")
    for said in ("as it was at", "<h1", "Use Redis", "<strong>fast</strong>", "3 versions since", "cache"):
        assert said in text, said
    assert "Valkey" in text[text.index("What has changed since") :]
    assert at(as_viewer, decision, day(7)).context["past"].record.status == "deprecated"
    assert at(as_viewer, decision, "today").context["past"].record.review_state == "rejected"
    assert "it has not changed since" in at(as_viewer, decision, "today").content.decode()


def test_before_it_was_written_it_says_when_that_was(as_viewer, decision):
    page = at(as_viewer, decision, day(30))
    assert page.context["past"].record is None
    assert "It was not there yet" in page.content.decode()


def test_a_time_of_day_is_a_time(as_viewer, decision):
    edited = Revision.objects.get(node_id=decision.node_id, version=2).created_at
    before = at(as_viewer, decision, (edited - timedelta(seconds=1)).isoformat())
    after = at(as_viewer, decision, edited.isoformat())
    assert (before.context["past"].record.title, after.context["past"].record.title) == (
        "Use Redis",
        "Use Valkey",
    )


def test_the_links_of_then(as_viewer, agent, curator, project, decision):
    other = make("pitfall", agent, project, "Stampede")
    with days_ago(9):
        link(decision, Relation.RELATES_TO, other, actor=curator)
    with days_ago(6):
        kept = link_between(decision.node_id, Relation.RELATES_TO, other.node_id)
        unlink(kept, decision, other, actor=curator)
    assert at(as_viewer, decision, day(15)).context["links"] == []
    (shown,) = at(as_viewer, decision, day(8)).context["links"]
    assert (shown[1], shown[4]) == (other.node_id, True)
    assert "unlinked since" in at(as_viewer, decision, day(8)).content.decode()
    assert at(as_viewer, decision, day(4)).context["links"] == []


def test_the_outcomes_and_the_confidence_of_then(as_viewer, agent, project, decision):
    with days_ago(8):
        record_outcome(actor=agent, decision=decision, type="outage")
    assert at(as_viewer, decision, day(9)).context["outcomes"] == []
    assert len(at(as_viewer, decision, day(8)).context["outcomes"]) == 1
    with days_ago(20):
        pattern = create_pattern(actor=agent, project=project, category="c", name="Lease", confidence=0.5)
    with days_ago(10):
        record_evidence(actor=agent, pattern=pattern, worked=True)
    before, after = (at(as_viewer, pattern, day(n)).context["past"] for n in (15, 9))
    assert (before.confidence, before.votes) == (0.5, (0, 0))
    assert after.confidence > 0.5
    assert after.votes == (1, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_past(as_viewer, agent, project, kind):
    record = make(kind, agent, project, "The one")
    page = at(as_viewer, record, "today")
    assert page.status_code == 200
    assert page.context["past"].record.heading == record.heading


@pytest.mark.parametrize(
    "text",
    ["someday", "2026-13-01", "2026-02-30T10:00", "0001-01-01T00:00", "9999-12-31T23:59", "x" * 101, "\x00", "12:00", "<b>"],
)  # fmt: skip
def test_what_is_no_time_is_explained(as_viewer, decision, text):
    page = at(as_viewer, decision, text)
    assert page.status_code in (200, 422)
    assert page.status_code == 422 or page.context["past"] is not None
    assert b"<b>&" not in page.content


def test_without_a_time_it_asks_for_one(as_viewer, decision):
    assert "Name a day or a time." in at(as_viewer, decision, "").content.decode()


def test_a_purged_text_is_said_to_be_purged(as_viewer, decision):
    with writing():
        Revision.objects.filter(node_id=decision.node_id).update(after=None)
    assert "was purged" in at(as_viewer, decision, day(15)).content.decode()


def test_it_asks_no_more_of_a_long_past(as_viewer, agent, curator, project, decision):
    def asked():
        at(as_viewer, decision, day(1))
        with CaptureQueriesContext(connection) as captured:
            at(as_viewer, decision, day(1))
        return len(captured)

    few = asked()
    for number in range(12):
        with days_ago(4):
            edit_decision(actor=curator, decision=decision, changes={"title": f"No {number}"})
            other = make("decision", agent, project, f"Other {number}")
            link(decision, Relation.RELATES_TO, other, actor=agent)
    assert asked() - few <= 1  # the other ends: one query a kind


def test_nobody_from_elsewhere_sees_it(client, stranger_user, decision):
    client.force_login(stranger_user)
    assert at(client, decision, "today").status_code == 404


def test_what_was_undone_since_held_then(as_viewer, agent, curator, project, decision):
    other = make("pitfall", agent, project, "Stampede")
    pattern = create_pattern(actor=agent, project=project, category="c", name="Lease", confidence=0.5)
    with days_ago(-1):
        link(decision, Relation.RELATES_TO, other, actor=curator)
        record_evidence(actor=agent, pattern=pattern, worked=True)
    linked = Revision.objects.filter(verb="link", node_id=decision.node_id).latest("pk").act
    voted = Revision.objects.filter(verb="worked").latest("pk").act
    with days_ago(-3):
        for act in (linked, voted):
            undo(act, actor=curator)
    then, later = ((NOW + timedelta(days=days)).isoformat() for days in (2, 4))
    assert [row[1] for row in at(as_viewer, decision, then).context["links"]] == [other.node_id]
    assert at(as_viewer, decision, later).context["links"] == []
    past = at(as_viewer, pattern, then).context["past"]
    assert (past.votes, past.confidence > 0.5) == ((1, 0), True)
    past = at(as_viewer, pattern, later).context["past"]
    assert (past.votes, past.confidence) == ((0, 0), 0.5)


def ends_of(past, record):
    return {end for source, _relation, target in past.edges for end in (source, target)} - {record.node_id}


def test_before_a_merge_each_had_its_own_and_after_its_undo_again(as_viewer, agent, curator, project):
    """Links (to a third, between the two, of the same end), outcomes and votes; of links by SQL too."""
    with days_ago(20):
        kept, gone, third, both = (make("decision", agent, project, name) for name in ("K", "G", "T", "B"))
        link(gone, Relation.RELATES_TO, third, actor=curator)
        for record in (kept, gone):
            link(record, Relation.RELATES_TO, both, actor=curator)
        of_gone = record_outcome(actor=agent, decision=gone, type="outage")
        of_kept = record_outcome(actor=agent, decision=kept, type="success")
        said = [
            create_pattern(actor=agent, project=project, category="c", name=n, confidence=0.5) for n in "KG"
        ]
        for pattern, worked in ((said[0], True), (said[1], False), (said[1], False)):
            record_evidence(actor=agent, pattern=pattern, worked=worked)
        by_sql = make("decision", agent, project, "By SQL")
    with writing():
        Link.objects.create(
            project=project, source=gone.node_id, relation="SUPERSEDES", target=by_sql.node_id,
            created_at=NOW - timedelta(days=20),
        )  # fmt: skip
    with days_ago(10), one_act() as act:
        merge(kept, [gone], actor=curator)
        merge(*said[:1], said[1:], actor=curator)
    K, G, T, B, S = (record.node_id for record in (kept, gone, third, both, by_sql))

    def told(text):
        pasts = {
            record: record_as_of(type(record).objects.get(pk=record.pk), moment_of(text))
            for record in all_of_it
        }
        links = [ends_of(pasts[record], record) for record in (kept, gone, third, both, by_sql)]
        outcomes = [sorted(outcome.pk for outcome in pasts[record].outcomes) for record in (kept, gone)]
        return links, outcomes, [pasts[pattern].votes for pattern in said]

    all_of_it = (kept, gone, third, both, by_sql, *said)
    apart = [{B}, {T, B, S}, {G}, {K, G}, {G}], [[of_kept.pk], [of_gone.pk]], [(1, 0), (0, 2)]
    together = [{B, T, S}, set(), {K}, {K}, {K}]
    assert told(day(15)) == apart
    assert told(day(8)) == (together, [sorted([of_kept.pk, of_gone.pk]), []], [(1, 2), (0, 0)])
    assert undo(act, actor=curator).refused == []
    assert told(day(15)) == apart
    assert told("today") == apart
    assert told(day(8))[0] == together


def test_a_link_that_was_taken_away_after_a_merge_was_there_before(as_viewer, agent, curator, project):
    with days_ago(20):
        kept, gone, third = (make("decision", agent, project, name) for name in ("K", "G", "T"))
        link(gone, Relation.SUPERSEDES, third, actor=curator)
    with days_ago(10):
        merge(kept, [gone], actor=curator)
    with days_ago(5):
        made = link_between(kept.node_id, Relation.SUPERSEDES, third.node_id)
        unlink(made, kept, third, actor=curator)
    gone.refresh_from_db()
    for days, expected in (
        (15, (set(), {third.node_id})),
        (8, ({third.node_id}, set())),
        (4, (set(), set())),
    ):
        pasts = [(record_as_of(record, moment_of(day(days))), record) for record in (kept, gone)]
        assert tuple(ends_of(*each) for each in pasts) == expected, days


def test_the_confidence_after_a_merge_is_that_of_all_its_votes(as_viewer, agent, curator, project):
    with days_ago(20):
        one, other = (
            create_pattern(actor=agent, project=project, category="c", name=n, confidence=0.5) for n in "AB"
        )
        for pattern, times in ((one, 1), (other, 3)):
            for _time in range(times):
                record_evidence(actor=agent, pattern=pattern, worked=True)
    with days_ago(10):
        merge(one, [other], actor=curator)
    one.refresh_from_db()
    for days, votes in ((15, 1), (5, 4)):
        past = at(as_viewer, one, day(days)).context["past"]
        assert past.votes == (votes, 0)
    assert past.confidence == pytest.approx(one.confidence_score, abs=0.02)


def test_what_is_hidden_now_is_no_end_and_no_outcome_of_then(as_viewer, agent, curator, project, decision):
    with days_ago(8):
        outcome = record_outcome(actor=agent, decision=decision, type="outage")
        other = make("pitfall", agent, project, "Stampede")
        link(decision, Relation.RELATES_TO, other, actor=curator)
    for record in (other, outcome):
        verbs.archive([record], actor=curator)
    page = at(as_viewer, decision, day(7))
    assert (page.context["links"], page.context["outcomes"]) == ([], [])
    assert "2 more that it had to do with then are hidden now" in page.content.decode()


def test_the_history_of_a_record_leads_to_its_past_and_restores_it(client, curator_user, decision):
    client.force_login(curator_user)
    page = client.get(f"/p/shop/records/{decision.node_id}/history/").content.decode()
    assert page.count("Restore this version") == 3  # not of the one that it has
    address = f"/p/shop/records/{decision.node_id}/versions/1/restore/"
    assert address in page
    assert f"/p/shop/r/{decision.node_id}/as-of/?at=20" in page
    client.post(address, {"version": decision.version})
    decision.refresh_from_db()
    assert decision.title == "Use Redis"


@pytest.mark.parametrize("undone", [False, True])
@pytest.mark.parametrize("erased", ["into", "merged", "linked"])
def test_a_merge_of_which_an_erasing_left_the_ends_alone_leads_back_too(
    as_viewer, agent, admin_user, project, erased, undone
):
    admin = person(admin_user)
    records = {name: make("decision", agent, project, title=name) for name in ("into", "merged", "linked")}
    link(records["merged"], Relation.RELATES_TO, records["linked"], actor=agent, reason="As they said.")
    before = timezone.now()
    with one_act() as act:
        merge(records["into"], [records["merged"]], actor=admin, reason="The same.")
    if undone:
        undo(act, actor=admin)
    after = timezone.now()
    records[erased].refresh_from_db()
    erase([records[erased]], actor=admin, reason="A person asked us to.")

    into, merged, linked = (records[name].node_id for name in ("into", "merged", "linked"))
    assert edges_at(into, before) == set()
    assert edges_at(merged, before) == edges_at(linked, before) == {(merged, "RELATES_TO", linked)}
    end = merged if undone else into
    assert edges_at(end, after) == edges_at(linked, after) == {(end, "RELATES_TO", linked)}
    for name, record in records.items():
        assert at(as_viewer, record, "today").status_code == (410 if name == erased else 200)

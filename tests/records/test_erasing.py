"""Erasing for good: nothing is left of the text, and what is left says who did it, when and why."""

from __future__ import annotations

import contextlib
import json

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.urls import reverse

from curation.inbox import bulk
from curation.models import SuggestedPair
from curation.pairs.actions import settle
from decisions.actions import create_decision, edit_decision, record_outcome
from decisions.models import Decision, Outcome
from patterns.actions import record_evidence
from pitfalls.actions import meet_again
from recall.fulltext import matching
from recall.models import Embedding, SearchText, Similarity
from recall.words import keep_words
from records import text_tables
from records.erasing import erase
from records.errors import InvalidInput, NotAllowed, Refused
from records.everywhere import places_of, text_columns
from records.kinds import all_kinds, parse_node_id
from records.left_over import left_of
from records.links import link, unlink
from records.merging import merge
from records.models import Attention, Erasure, Link, ProjectionMark, RecordTag, Revision
from records.sweep import sweep
from records.undo import undo
from records.verbs import archive, restore, review
from runs.actions import remember, set_cache, write_runs
from runs.models import CacheEntry, PayloadValue
from tests.conftest import make_token, person
from tests.records.samples import KINDS, make, page_of, verb_url, write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]
WORD = 'Zwölfton-«Xylophon» "q" 4711'
WHY = "A person asked us to."


@pytest.fixture
def admin(admin_user):
    return person(admin_user)


def left(text: str = WORD) -> list[str]:
    return [str(place) for place in places_of([text])]


def said_everywhere(kind, agent, curator, project):
    """A record of the kind with the word in every column, in its history and in what lies beside it."""
    record = make(kind, agent, project, title=f"About {WORD}")
    columns = {
        column.name: [f"a {WORD}"] if column.name == "tags" else {"in": [WORD]}
        for column in type(record)._meta.concrete_fields
        if column.get_internal_type() == "JSONField"
    }
    columns |= {
        column.name: f"{column.name} {WORD}"
        for column in type(record)._meta.concrete_fields
        if column.get_internal_type() == "TextField"
    }
    write_as_sql(record, **columns)
    sweep()
    record.refresh_from_db()
    other = make("decision", agent, project, title="Another")
    link(record, "RELATES_TO", other, actor=curator, reason=f"Both say {WORD}")
    review([record], "rejected", actor=curator, reason=f"No {WORD} here")
    Embedding.objects.create(
        node_id=record.node_id,
        kind=kind,
        project_id=project.pk,
        part=0,
        model="m",
        content_hash="h",
        vector=b"x",
    )
    SearchText.objects.create(
        node_id=record.node_id, kind=kind, project_id=project.pk, content_hash="h", words=WORD
    )
    Similarity.objects.create(project_id=project.pk, source=other.node_id, target=record.node_id, score=0.9)
    SuggestedPair.objects.create(
        project=project, sort="duplicate", kind=kind, first=record.node_id, second=other.node_id, score=0.9,
        why=[WORD],
    )  # fmt: skip
    LogEntry.objects.create(
        user=curator.user, content_type=ContentType.objects.get_for_model(type(record)), object_id=str(record.pk),
        object_repr=WORD, change_message=WORD, action_flag=CHANGE,
    )  # fmt: skip
    if kind == "pattern":
        record_evidence(actor=agent, pattern=record, worked=True, note=WORD)
    if kind == "pitfall":
        meet_again(actor=agent, pitfall=record, note=WORD)
    if kind == "run":
        PayloadValue.objects.create(run=record, project_id=project.pk, path=WORD, value=WORD, digest="d")
        remember(actor=agent, project=project, agent_name="order-bot", summary=f"It was {WORD}", run=record)
    record.refresh_from_db()
    return record


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_of_the_text_of_any_kind(kind, agent, curator, admin, project):
    record = said_everywhere(kind, agent, curator, project)
    assert len(left()) > 5
    outcome = erase([record], actor=admin, reason=WHY)
    assert record.node_id in [one.node_id for one in outcome.updated]
    of_its_decision = " of dec_" if kind == "outcome" else "nothing else"  # which holds a text of its own
    assert [line for line in left() if of_its_decision not in line] == []
    erased = type(record).objects.get(pk=record.pk)
    assert not erased.is_active
    assert erased.version == record.version + 1
    told = Revision.objects.get(node_id=record.node_id, verb="erase")
    assert (told.reason, told.actor_name, told.version) == (WHY, "ada", erased.version)
    tomb = Erasure.objects.get(node_id=record.node_id)
    assert (tomb.reason, tomb.actor_name, tomb.user, tomb.project) == (WHY, "ada", admin.user, project)


@pytest.mark.parametrize("acts", [True, False])
def test_the_jobs_that_acted_on_it_or_could_not_quote_it_no_more(acts, agent, curator, admin, project):
    record, other = (create_decision(actor=agent, project=project, title=t, decision="D") for t in "AB")
    record_key, other_key = record.node_id, other.node_id
    wanted = {record_key: None if acts else 99, other_key: None}
    of_it, of_other = (
        bulk.start_job(
            actor=curator,
            project=project,
            verb="reject",
            wanted=some,
            reason=f"No {WORD}",
            back=f"/?q={WORD}",
        )
        for some in (wanted, {other_key: None})
    )
    bulk.run_job(of_it, actor=curator, seconds=5)
    erase([record], actor=admin, reason=WHY)
    of_it.refresh_from_db()
    of_other.refresh_from_db()
    assert (of_it.reason, of_it.back) == ("[erased]", "")
    assert of_other.reason == f"No {WORD}"


def test_who_did_what_when_stays_without_what_was_said(agent, curator, admin, project):
    record = said_everywhere("decision", agent, curator, project)
    before = list(
        Revision.objects.filter(node_id=record.node_id).values_list("verb", "actor_name", "created_at")
    )
    erase([record], actor=admin, reason=WHY)
    after = Revision.objects.filter(node_id=record.node_id).order_by("-id")
    assert list(after.values_list("verb", "actor_name", "created_at"))[1:] == before
    assert {(row.reason, row.after is None) for row in after[1:]} == {("", True)}
    linked = next(row for row in after if row.verb == "link")
    assert linked.detail == {
        "relation": "RELATES_TO", "source": Link.objects.get().source, "target": Link.objects.get().target
    }  # fmt: skip


@pytest.mark.parametrize("who", ["viewer", "curator", "stranger", "agent"])
def test_only_an_admin_of_the_project_erases(who, request, agent, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    with pytest.raises(NotAllowed):
        erase([record], actor=request.getfixturevalue(who), reason=WHY)
    assert left()
    assert not Erasure.objects.exists()


@pytest.mark.parametrize(("reason", "said"), [("  ", "Say why"), (f"It said {WORD}.", "quotes")])
def test_a_reason_is_asked_for_and_quotes_nothing(reason, said, agent, admin, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    with pytest.raises(InvalidInput, match=said):
        erase([record], actor=admin, reason=reason)
    assert not Erasure.objects.exists()


def test_erasing_twice_changes_nothing(agent, admin, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    erase([record], actor=admin, reason=WHY)
    again = erase([Decision.objects.get()], actor=admin, reason="Again.")
    assert (again.updated, len(again.unchanged)) == ([], 1)
    assert Erasure.objects.get().reason == WHY
    assert Revision.objects.filter(verb="erase").count() == 1


def test_no_verb_changes_or_brings_back_what_was_erased(agent, curator, admin, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    (erased,) = erase([record], actor=admin, reason=WHY).updated
    for act in (
        lambda: restore([erased], actor=admin),
        lambda: review([erased], "approved", actor=curator),
        lambda: edit_decision(actor=admin, decision=erased, changes={"title": "Back"}),
    ):
        with pytest.raises(Refused, match="erased for good"):
            act()
    pattern = make("pattern", agent, project)
    erase([pattern], actor=admin, reason=WHY)
    with pytest.raises(Refused, match="erased for good"):
        record_evidence(actor=agent, pattern=pattern, worked=True)


def test_undo_brings_nothing_back(agent, curator, admin, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    edited = edit_decision(actor=curator, decision=record, changes={"title": f"Now {WORD}"})
    erase([edited], actor=admin, reason=WHY)
    acts = list(Revision.objects.filter(node_id=record.node_id).values_list("act", flat=True))
    assert len(acts) == 3
    for act in acts:
        outcome = undo(act, actor=admin)
        assert outcome.updated == []
        assert "erased for good" in str(outcome.refused[0][1])
    assert left() == []


def test_no_link_is_made_to_it_nor_comes_back(agent, curator, admin, project):
    one, gone, away = (make("decision", agent, project, title=title) for title in ("A", "B", "C"))
    unlink(link(one, "RELATES_TO", gone, actor=curator), one, gone, actor=curator)
    act = Revision.objects.filter(node_id=one.node_id, verb="unlink").get().act
    write_as_sql(away, merged_into=gone.node_id)
    sweep()
    erase([gone], actor=admin, reason=WHY)
    for end in (gone, away):
        end.refresh_from_db()
        with pytest.raises(Refused, match="erased for good"):
            link(one, "RELATES_TO", end, actor=curator)
    assert "erased for good" in str(undo(act, actor=curator).refused[0][1])
    assert not Link.objects.exists()


def test_what_moved_with_a_merge_is_cleared_of_it_and_of_nothing_else(agent, curator, admin, project):
    gone, kept, one, two, three = (make("decision", agent, project, title=title) for title in "ABCDE")
    link(gone, "RELATES_TO", one, actor=curator, reason=f"Both say {WORD}")
    link(kept, "RELATES_TO", one, actor=curator, reason="the same cache")
    merge(two, [one], actor=curator)
    merged = Revision.objects.filter(node_id=two.node_id, verb="merge").first().act
    merge(three, [two], actor=curator)
    undo(Revision.objects.filter(node_id=three.node_id, verb="merge").first().act, actor=curator)
    assert [line for line in left() if "revisions.detail" in line]
    erase([gone], actor=admin, reason=WHY)
    assert left() == []
    assert not [place for place in left_of(*parse_node_id(gone.node_id)) if place.table != "links"]
    undo(merged, actor=curator)
    assert {(row.source, row.target, row.note) for row in Link.objects.all()} == {
        (gone.node_id, one.node_id, None), (kept.node_id, one.node_id, "the same cache"),
    }  # fmt: skip


def test_what_an_erased_event_did_cannot_be_undone_and_that_is_said(agent, curator, admin, project):
    """Whatever the act was, taken back already or not: a refusal, never an error, and nothing half done."""
    gone, one, two = (make("decision", agent, project, title=title) for title in "ABC")
    link(gone, "RELATES_TO", one, actor=curator)
    settle(gone, one, "contradicts", actor=curator)
    settle(two, gone, "supersedes", actor=curator)
    for verb in ("link", "settle", "supersede"):
        undo(Revision.objects.filter(node_id=gone.node_id, verb=verb).first().act, actor=curator)
    undo(Revision.objects.filter(node_id=gone.node_id, verb="undo").first().act, actor=curator)
    pattern, other = (make("pattern", agent, project, title=title) for title in "XY")
    record_evidence(actor=agent, pattern=other, worked=True)
    merge(pattern, [other], actor=curator)
    undo(Revision.objects.filter(node_id=pattern.node_id).first().act, actor=curator)
    undo(Revision.objects.filter(node_id=pattern.node_id).first().act, actor=curator)
    acts = set(
        Revision.objects.filter(node_id__in=[gone.node_id, other.node_id]).values_list("act", flat=True)
    )
    erase([gone, other], actor=admin, reason=WHY)
    kept = list(Link.objects.values_list("source", "relation", "target"))
    for act in acts:
        with contextlib.suppress(Refused):
            undo(act, actor=admin)
    assert {*Link.objects.values_list("source", "relation", "target")} <= {*kept}
    assert Decision.objects.get(pk=one.pk).status == Decision.objects.get(pk=two.pk).status == "accepted"
    assert type(other).objects.get(pk=other.pk).merged_into == pattern.node_id


def test_a_decision_with_an_erased_outcome_is_merged_and_parted(agent, curator, admin, project):
    one, two = (make("decision", agent, project, title=title) for title in "AB")
    outcomes = [record_outcome(actor=agent, decision=two, type="outage", note=WORD) for _ in range(2)]
    erase(outcomes[:1], actor=admin, reason=WHY)
    merge(one, [two], actor=curator)
    assert [row.decision_id for row in Outcome.objects.order_by("pk")] == [two.pk, one.pk]
    undo(Revision.objects.filter(node_id=one.node_id).first().act, actor=curator)
    assert {row.decision_id for row in Outcome.objects.all()} == {two.pk}


def test_in_a_bulk_act_the_erased_one_is_reported_and_the_others_go_on(agent, curator, admin, project):
    one, two = (
        create_decision(actor=agent, project=project, title=title, decision="D") for title in ("A", "B")
    )
    erase([one], actor=admin, reason=WHY)
    outcome = archive([one, two], actor=curator, partial=True)
    assert next((node_id, str(why)) for node_id, why in outcome.refused)[0] == one.node_id
    assert [record.node_id for record in outcome.updated] == [two.node_id]


def test_the_sweep_leaves_an_erased_row_alone_and_takes_a_new_text_as_a_new_version(agent, admin, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    erase([record], actor=admin, reason=WHY)
    assert sweep() == 0
    assert Revision.objects.filter(node_id=record.node_id).count() == 2
    assert Attention.objects.get(node_id=record.node_id).standing == "hidden"
    mark = ProjectionMark.objects.get(node_id=record.node_id)
    assert (mark.erased, mark.gone, mark.text_hash) == (True, False, "")
    write_as_sql(record, title="Written again by SQL")
    assert sweep() == 1
    newest = Revision.objects.filter(node_id=record.node_id).first()
    assert (newest.channel, newest.verb, newest.version) == ("sql", "edit", 3)
    assert not ProjectionMark.objects.get(node_id=record.node_id).erased
    restore([Decision.objects.get()], actor=admin)  # it is a memory like any other again
    assert Decision.objects.get().is_active


def test_outcomes_of_a_decision_stay(agent, admin, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    outcome = record_outcome(actor=agent, decision=record, type="outage", note="Down for an hour.")
    erase([record], actor=admin, reason=WHY)
    assert Outcome.objects.active().get() == outcome


def test_a_chain_of_merges_still_leads_to_the_erased_survivor(client, admin_user, agent, admin, project):
    one, two = (
        create_decision(actor=agent, project=project, title=title, decision="D") for title in ("A", "B")
    )
    write_as_sql(one, merged_into=two.node_id)
    sweep()
    erase([two], actor=admin, reason=WHY)
    assert Decision.objects.get(pk=one.pk).merged_into == two.node_id
    client.force_login(admin_user)
    answer = client.get(page_of(two))
    assert answer.status_code == 410
    assert one.node_id in answer.content.decode()


def test_the_agents_cache_is_emptied_where_that_is_asked_for(agent, admin, project, other_project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    set_cache(actor=agent, project=project, key="k", value={"copy": WORD})
    CacheEntry.objects.create(project=other_project, key="k", value=1, expires_at="2099-01-01T00:00Z")
    erase([record], actor=admin, reason=WHY)
    assert [line for line in left() if "agent_cache" in line]
    other = create_decision(actor=agent, project=project, title=WORD, decision="D")
    erase([other], actor=admin, reason=WHY, hot_state=True)
    assert left() == []
    assert CacheEntry.objects.get().project == other_project


def test_a_write_sent_again_with_its_key_is_told_that_it_was_erased(client, project, admin):
    _token, text = make_token(project)
    sent = {
        "data": json.dumps({"title": WORD, "decision": "D"}),
        "content_type": "application/json",
        "headers": {"Authorization": f"Bearer {text}", "Idempotency-Key": "k-1"},
    }
    made = client.post("/api/v1/decisions", **sent)
    assert made.status_code == 201
    erase(list(Decision.objects.all()), actor=admin, reason=WHY)
    assert left() == []
    again = client.post("/api/v1/decisions", **sent)
    assert (again.status_code, again["Content-Type"]) == (410, "application/problem+json")
    assert again.json()["type"].endswith(":erased")
    assert Decision.objects.count() == 1
    assert left() == []


def test_a_run_of_a_chosen_id_sent_again_brings_nothing_back(agent, admin, project):
    sent = {"agent_name": "order-bot", "id": "a" * 32, "trigger_payload": {"alert": WORD}, "summary": WORD}
    ((run, _),) = write_runs(actor=agent, project=project, rows=[sent])
    erase([run], actor=admin, reason=WHY)
    with pytest.raises(Refused):
        write_runs(actor=agent, project=project, rows=[sent])
    assert left() == []


def test_the_api_answers_410_and_says_when_and_why(client, agent, admin, project):
    _token, text = make_token(project)
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    erase([record], actor=admin, reason=WHY)
    headers = {"Authorization": f"Bearer {text}"}
    for path in (f"decisions/{record.node_id}", f"records/{record.node_id}/history"):
        answer = client.get(f"/api/v1/{path}", headers=headers)
        assert answer.status_code == 410
        body = answer.json()
        assert (body["type"], body["node_id"], body["reason"]) == (
            "urn:memory-desk:problem:erased", record.node_id, WHY,
        )  # fmt: skip
    assert client.get("/api/v1/decisions", headers=headers).json()["results"] == []
    shown = client.get("/api/v1/decisions?show=all", headers=headers).json()["results"]
    assert [one["title"] for one in shown] == ["[erased]"]


def test_each_page_of_it_is_a_tombstone(client, viewer_user, agent, admin, project):
    client.force_login(viewer_user)
    for kind in KINDS:
        record = make(kind, agent, project, title=f"The {kind}")
        erase([record], actor=admin, reason=WHY)
        for url in (page_of(record), verb_url("history", record)):
            answer = client.get(url)
            assert answer.status_code == 410, url
            page = answer.content.decode()
            assert WHY in page
            assert "ada" in page
        assert client.get(reverse("records:node", args=[record.node_id])).url == page_of(record)


def test_the_page_asks_for_the_id_and_a_reason(client, admin_user, agent, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    outcome = record_outcome(actor=agent, decision=record, type="outage", note=WORD)
    client.force_login(admin_user)
    url = verb_url("erase", record)
    page = client.get(url)
    assert outcome.node_id in page.content.decode()
    for wrong in ({}, {"confirm": record.node_id}, {"reason": WHY, "confirm": "dec_999"}):
        assert client.post(url, wrong).status_code == 422
    assert not Erasure.objects.exists()
    fields = {"reason": WHY, "confirm": f" {record.node_id} ", "also": [outcome.node_id]}
    answer = client.post(url, fields)
    assert (answer.status_code, answer.url) == (303, page_of(record))
    assert client.get(answer.url).status_code == 410
    assert left() == []
    assert client.post(url, fields).status_code == 410  # twice is answered by the tombstone


def test_the_link_to_it_is_an_admins_alone(client, admin_user, curator_user, agent, project):
    record = create_decision(actor=agent, project=project, title="T", decision="D")
    for user, shown in ((admin_user, True), (curator_user, False)):
        client.force_login(user)
        assert (verb_url("erase", record) in client.get(page_of(record)).content.decode()) is shown


def test_marks_and_counts_move_so_that_nothing_kept_in_memory_shows_it(
    client, admin_user, agent, admin, project
):
    client.force_login(admin_user)
    record = create_decision(actor=agent, project=project, title=WORD, decision="D", tags=[WORD[:20]])
    url = reverse("decisions:list", args=["shop"])
    assert "Xylophon" in client.get(url).content.decode()
    erase([record], actor=admin, reason=WHY)
    page = client.get(url).content.decode()
    assert "Xylophon" not in page
    assert not RecordTag.objects.exists()


def test_every_table_with_text_beside_a_record_is_named():
    """A new table whose rows belong to a record must say what becomes of its text, or stand here with why not."""
    named = {table.model for table in text_tables.text_tables()}
    kinds = {kind.model for kind in all_kinds()}
    elsewhere = {
        "Revision": "clear_history",
        "Erasure": "what stays; its reason quotes nothing",
        "ProjectionMark": "marks.entomb_text; `error` is set anew by every wish",
        "Attention": "codes and ids; looked at again",
        "Read": "who read what, no word of it",
        "Arrival": "a name there and a digest",
    }
    names = {"node_id", "source", "target", "first", "second"}
    missing = []
    for model in {model for model, _column in text_columns()} - named - kinds:
        columns = {column.name for column in model._meta.concrete_fields}
        keys = {column.related_model for column in model._meta.concrete_fields if column.is_relation}
        if (columns & names or keys & kinds) and model.__name__ not in elsewhere:
            missing.append(model.__name__)
    assert missing == []


def test_no_freed_page_of_sqlites_file_holds_it(agent, admin, project):
    if connection.vendor != "sqlite":
        pytest.skip("SQLite's own file")
    word = "Quastenflosser4711"
    record = create_decision(actor=agent, project=project, title=word, decision=f"{word} " * 2000)
    keep_words([record])
    other = create_decision(actor=agent, project=project, title="Another", decision="D")
    keep_words([other])
    assert word.encode() in connection.connection.serialize()
    erase([record], actor=admin, reason=WHY)
    file = connection.connection.serialize()
    assert word.encode() not in file
    assert word.lower().encode() not in file  # nor does the index of words
    assert matching('"another"', [project.pk], 5) == [other.node_id]

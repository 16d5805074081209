"""Erasing for good: nothing is left of the text, and what is left says who did it, when and why."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection

from curation.inbox import bulk
from curation.models import SuggestedPair
from decisions.actions import create_decision, record_outcome
from decisions.models import Decision, Outcome
from patterns.actions import record_evidence
from pitfalls.actions import meet_again
from recall.fulltext import matching
from recall.models import Embedding, SearchText, Similarity
from recall.words import keep_words
from records import text_tables
from records.erasing import erase
from records.errors import InvalidInput, NotAllowed
from records.everywhere import text_columns
from records.kinds import all_kinds, parse_node_id
from records.left_over import left_of
from records.links import link
from records.merging import merge
from records.models import Erasure, Link, Revision
from records.sweep import sweep
from records.undo import undo
from records.verbs import review
from runs.actions import remember, set_cache
from runs.models import CacheEntry, PayloadValue
from tests.records.erased import WHY, WORD, left
from tests.records.samples import KINDS, make, write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]


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


def test_outcomes_of_a_decision_stay(agent, admin, project):
    record = create_decision(actor=agent, project=project, title=WORD, decision="D")
    outcome = record_outcome(actor=agent, decision=record, type="outage", note="Down for an hour.")
    erase([record], actor=admin, reason=WHY)
    assert Outcome.objects.active().get() == outcome


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

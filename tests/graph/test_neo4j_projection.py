"""What the worker writes to a real Neo4j: all of it, once, in order, and nothing that is no more."""

import threading

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection as database

from decisions.actions import create_decision, edit_decision, record_outcome
from graph import connection, cypher, cypher_schema, cypher_writes, projector
from graph.neo4j import Neo4jGraph
from graph.projector import Neo4jProjector
from graph.relational import RelationalGraph
from graph.store import Relation, Within
from graph.worker import Worker
from recall.models import Embedding, Similarity
from recall.vectors import record_vectors
from records import marks
from records.actor import Actor
from records.links import link, unlink
from records.models import Link, ProjectionMark, ReviewState
from records.sweep import sweep
from records.verbs import review
from tests.conftest import make_token

pytestmark = [pytest.mark.graph, pytest.mark.django_db, pytest.mark.usefixtures("clean_graph")]


def many(agent, project, count, word="Redis"):
    return [
        create_decision(actor=agent, project=project, title=f"Use {word} {n}", decision=f"Cache totals {n}.")
        for n in range(count)
    ]


def drain():
    worker = Worker()
    while worker.work_once():
        pass


def node(node_id):
    rows = connection.fetch("MATCH (n:Record {id: $id}) RETURN labels(n), properties(n)", {"id": node_id})
    return (sorted(rows[0][0]), rows[0][1]) if rows else None


def relations():
    statement = "MATCH (a:Record)-[r]->(b:Record) RETURN a.id, type(r), b.id, r.score"
    return {row[:3]: row[3] for row in connection.fetch(statement, {})}


def test_a_write_reaches_the_graph_with_its_vector_and_relations(agent, project):
    first, second = many(agent, project, 2)
    outcome = record_outcome(actor=agent, decision=first, type="outage", success_rate=0.2)
    link(first, "CONTRADICTS", second, actor=agent)
    drain()
    labels, properties = node(first.node_id)
    assert labels == ["Decision", f"Project{project.pk}", "Record"]
    assert (properties["title"], properties["project_id"], properties["active"]) == (
        "Use Redis 0",
        project.pk,
        True,
    )
    stored = Embedding.objects.get(node_id=first.node_id, part=0)
    assert np.allclose(properties["embedding"], np.frombuffer(bytes(stored.vector), dtype="<f4"), atol=1e-7)
    score = Similarity.objects.get(source=first.node_id, target=second.node_id).score
    found = relations()
    assert found[first.node_id, "SIMILAR_TO", second.node_id] == score
    assert (first.node_id, "CONTRADICTS", second.node_id) in found
    assert (first.node_id, "LEADS_TO", outcome.node_id) in found
    mark = ProjectionMark.objects.get(node_id=first.node_id)
    assert mark.projected_version == mark.embedded_version == mark.wanted_version
    by_hand = "MATCH (c:Decision {id: $id}) MATCH (c)-[r:SIMILAR_TO]-(s:Decision) WHERE r.score > 0.5 RETURN s.title"
    assert connection.fetch(by_hand, {"id": first.node_id}) == [("Use Redis 1",)]
    outcomes = "MATCH (d:Decision)-[:LEADS_TO]->(o:Outcome) WHERE d.title CONTAINS 'Redis' RETURN o.type, o.success_rate"
    assert connection.fetch(outcomes, {}) == [("outage", 0.2)]


def test_projecting_again_changes_nothing_and_sends_no_vector(agent, project, monkeypatch):
    records = many(agent, project, 3)
    drain()
    before = {record.node_id: node(record.node_id)[1] for record in records}, relations()
    sent = []
    monkeypatch.setattr(projector, "_vector_rows", lambda *a: sent.append(a) or {})
    versions = {record.node_id: 1 for record in records}
    for _ in range(2):
        Neo4jProjector().project(records, (), versions)
    assert ({record.node_id: node(record.node_id)[1] for record in records}, relations()) == before
    assert sent == []


def test_an_edit_a_review_and_an_unlink_are_seen(agent, curator, project):
    first, second = many(agent, project, 2)
    made = link(first, "RELATES_TO", second, actor=agent)
    drain()
    kept = node(first.node_id)[1]["embedding_of"]
    edit_decision(actor=curator, decision=first, changes={"title": "Serve with FastAPI"})
    unlink(made, first, second, actor=curator)
    review([second], ReviewState.REJECTED, actor=curator, reason="wrong")
    drain()
    assert node(first.node_id)[1]["title"] == "Serve with FastAPI"
    assert node(first.node_id)[1]["embedding_of"] != kept
    assert node(second.node_id)[1]["active"] is False
    assert not any(relation == "RELATES_TO" for _, relation, _ in relations())
    assert not Link.objects.exists()


def test_a_stale_worker_neither_overwrites_nor_revives(agent, curator, project):
    old, gone = many(agent, project, 2)
    fresh = edit_decision(actor=curator, decision=old, changes={"title": "Newer"})
    old.title = "Older"
    show = Neo4jProjector().project
    show([fresh, gone], (), {fresh.node_id: 2, gone.node_id: 1})
    show([old], (), {old.node_id: 1})
    assert node(old.node_id)[1]["title"] == "Newer"
    show((), [gone.node_id], {gone.node_id: 2})
    for version in (1, 2):
        show([gone], (), {gone.node_id: version})
        assert node(gone.node_id) == (["Record"], {"id": gone.node_id, "version": 2, "gone": True})
    assert relations() == {}
    show([gone], (), {gone.node_id: 3})  # a row of that id that was written anew
    assert node(gone.node_id)[0] == ["Decision", f"Project{project.pk}", "Record"]


def test_of_many_writers_at_once_the_newest_version_stays(agent, project):
    (record,) = many(agent, project, 1)
    rows = [
        {"id": record.node_id, "version": version, "properties": {"title": f"T{version}"}}
        for version in range(1, 13)
    ]
    kind = next(kind for kind in cypher.graph_kinds() if kind.name == "decision")
    threads = [
        threading.Thread(
            target=connection.write, args=(lambda tx, row=row: cypher_writes.put_nodes(tx, kind, [row]),)
        )
        for row in [*rows[::-2], *rows[::2]]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _labels, properties = node(record.node_id)
    assert (properties["version"], properties["title"]) == (12, "T12")
    assert "lock" not in properties


def test_a_row_deleted_by_plain_sql_leaves_the_graph(agent, project):
    first, _second = many(agent, project, 2)
    drain()
    with database.cursor() as cursor:
        cursor.execute("DELETE FROM architecture_decisions WHERE id = %s", [first.pk])
    sweep()
    drain()
    assert node(first.node_id)[0] == ["Record"]
    assert relations() == {}
    assert cypher_schema.counts_by_kind() == {"decision": 1}


def test_a_neighbour_that_falls_out_of_a_full_list_leaves_the_graph_too(agent, project):
    records = many(agent, project, 4)
    drain()
    one, two = records[0].node_id, records[1].node_id
    # As when a newcomer takes the place: the rows of two others go, and their marks hear of it.
    Similarity.objects.filter(source__in=[one, two], target__in=[one, two]).delete()
    marks.want_projected([one])
    mark = ProjectionMark.objects.get(node_id=one)
    assert mark.embedded_version == mark.wanted_version == mark.projected_version + 1
    drain()
    assert not {(one, "SIMILAR_TO", two), (two, "SIMILAR_TO", one)} & relations().keys()
    assert len(relations()) == 5


@pytest.mark.parametrize("exact_up_to", [10_000, 0])
def test_all_k_come_back_from_projects_of_any_size_with_the_relational_scores(
    agent, project, other_project, monkeypatch, exact_up_to
):
    monkeypatch.setattr("graph.neo4j.EXACT_UP_TO", exact_up_to)
    rng = np.random.default_rng(7)
    small, large = (
        [create_decision(actor=agent, project=project, title=f"S{n}", decision="d") for n in range(12)],
        [],
    )
    for n in range(80):
        if n == 0:
            other = Actor.agent(make_token(other_project, agent_name="bank-bot", name="b")[0])
        large.append(create_decision(actor=other, project=other_project, title=f"L{n}", decision="d"))
    drain()
    vectors = record_vectors([project.pk, other_project.pk])
    for owner, records in ((project, small), (other_project, large)):
        query = rng.normal(size=384).astype(np.float32)
        query = query / np.linalg.norm(query)
        for vector in (query, vectors.rows_of(owner.pk)[1][0]):
            within = Within(project_id=owner.pk, min_score=-1.0)
            wanted = RelationalGraph().similar_by_vector(vector, within, k=10)
            found = Neo4jGraph().similar_by_vector(vector, within, k=10)
            assert len(found) == 10
            # Both are rounded to six digits, one of them as float32: a digit apart, and what float32 leaves of it.
            assert [one.score for one in found] == pytest.approx([one.score for one in wanted], abs=1.1e-6)
            assert {one.node.id for one in found} <= {record.node_id for record in records}
    center = large[0].node_id
    within = Within(project_id=other_project.pk, relations=frozenset({Relation.SIMILAR_TO}))
    assert Neo4jGraph().similar(center, within, k=20) == RelationalGraph().similar(center, within, k=20)


def test_setup_says_the_version_and_may_be_run_again(capsys, agent, project):
    many(agent, project, 2)
    ProjectionMark.objects.update(projected_version=1, next_try_at=None)
    call_command("graph_setup")
    said = capsys.readouterr().out
    assert "Neo4j 5." in said
    assert "will show 2 records" in said
    drain()
    call_command("graph_setup")
    assert "holds 2 records" in capsys.readouterr().out


def test_a_check_counts_what_differs_and_a_rebuild_ends_it(capsys, agent, project):
    from django.core.management.base import CommandError

    first, second = many(agent, project, 2)
    drain()
    call_command("check_graph")
    assert "Every record was compared." in capsys.readouterr().out
    connection.write(lambda tx: cypher_writes.delete_nodes(tx, [first.node_id]))
    tx_row = [{"id": "dec_99999", "version": 1, "properties": {"kind": "decision", "project_id": project.pk}}]
    kind = next(kind for kind in cypher.graph_kinds() if kind.name == "decision")
    connection.write(lambda tx: cypher_writes.put_nodes(tx, kind, tx_row))
    with pytest.raises(CommandError, match="differs"):
        call_command("check_graph")
    said = capsys.readouterr().out
    assert first.node_id in said
    assert "dec_99999" in said
    call_command("rebuild_graph")
    assert "[##############################] 2 of 2" in capsys.readouterr().out
    call_command("check_graph")
    assert second.node_id in {row[0] for row in cypher_schema.versions_after("", 10)}

"""Large projects have a vector index of their own; with it, without it and after it is gone the answers are alike."""

import numpy as np
import pytest

from decisions.models import Decision
from graph import connection, cypher, cypher_schema, neo4j, project_indexes
from graph.neo4j import Neo4jGraph
from graph.projector import Neo4jProjector
from graph.relational import RelationalGraph
from graph.store import Within
from recall.models import Embedding
from recall.vectors import configured_encoder, forget_vectors
from records.guard import writing
from records.models import ProjectionMark
from tests.graph.server import show_everything

pytestmark = [pytest.mark.graph, pytest.mark.django_db, pytest.mark.usefixtures("clean_graph")]
LARGE, SMALL = 60, 8


@pytest.fixture
def large(project, other_project, monkeypatch):
    """A project that counts as large, its index made; the query vectors."""
    monkeypatch.setattr(project_indexes, "INDEXED_FROM", 40)
    monkeypatch.setattr(project_indexes, "DROPPED_BELOW", 20)
    vectors = np.random.default_rng(7).standard_normal((LARGE + SMALL, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for at, vector in enumerate(vectors):
        owner = project if at < LARGE else other_project
        state = "rejected" if at % 5 == 0 else "approved"
        with writing():
            decision = Decision.objects.create(
                project=owner, title=f"D{at}", decision="d", review_state=state
            )
        ProjectionMark.objects.create(node_id=decision.node_id, kind="decision", project_id=owner.pk)
        Embedding.objects.create(
            node_id=decision.node_id, kind="decision", project_id=owner.pk, part=0, model=configured_encoder().name,
            content_hash="", vector=vector.astype("<f4").tobytes(),
        )  # fmt: skip
    forget_vectors()
    show_everything()
    neo4j._known.forget()
    made, _ = project_indexes.bring_project_indexes()
    assert made == [project.pk]
    connection.fetch(cypher_schema.AWAIT_INDEXES, {"seconds": 60}, seconds=60)
    yield vectors
    connection.write(lambda tx: tx.run(cypher_schema.drop_project_index(project.pk)).consume())
    neo4j._known.forget()


def answers(store, vectors, project, **within):
    within = Within(project_id=project.pk, **within)
    return [
        [
            (one.node.id, pytest.approx(one.score, abs=2e-6))
            for one in store.similar_by_vector(vector, within, k=10)
        ]
        for vector in vectors[::9]
    ]


def test_answers_are_exact_with_the_index_and_after_it_is_dropped(large, project, other_project):
    for within in ({"min_score": -1.0}, {"min_score": 0.05}, {"hidden": True, "min_score": -1.0}):
        assert answers(Neo4jGraph(), large, project, **within) == answers(
            RelationalGraph(), large, project, **within
        )
    assert neo4j._known.has_index(project.pk)
    assert not neo4j._known.has_index(other_project.pk)
    connection.write(lambda tx: tx.run(cypher_schema.drop_project_index(project.pk)).consume())
    expected = answers(RelationalGraph(), large, project, min_score=-1.0)
    assert answers(Neo4jGraph(), large, project, min_score=-1.0) == expected


def test_a_project_has_its_index_once_and_loses_it_when_it_has_shrunk(large, project):
    assert project_indexes.bring_project_indexes() == ([], [])
    ProjectionMark.objects.filter(project_id=project.pk).update(gone=True)
    assert project_indexes.bring_project_indexes() == ([], [project.pk])
    assert cypher.all_project_indexes() == []


def test_a_node_carries_the_label_of_the_project_that_it_is_in_now(project, other_project):
    with writing():
        decision = Decision.objects.create(project=project, title="D", decision="d")
    decision.refresh_from_db()
    show = Neo4jProjector().project

    def labels():
        rows = connection.fetch("MATCH (n:Record {id: $id}) RETURN labels(n)", {"id": decision.node_id})
        return set(rows[0][0])

    show([decision], (), {decision.node_id: 1})
    assert labels() == {"Record", "Decision", cypher.project_label(project.pk)}
    with writing():
        Decision.objects.filter(pk=decision.pk).update(project=other_project)
    decision.refresh_from_db()
    show([decision], (), {decision.node_id: 2})
    assert labels() == {"Record", "Decision", cypher.project_label(other_project.pk)}
    show((), [decision.node_id], {decision.node_id: 3})
    assert labels() == {"Record"}

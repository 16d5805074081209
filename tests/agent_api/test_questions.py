"""What is similar, what surrounds a record; and that every read is noted."""

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from decisions.actions import create_decision, supersede
from recall.models import Similarity
from records import reads
from records.models import Read

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def like(agent, project, decision):
    other = create_decision(actor=agent, project=project, title="Use Valkey", decision="Cache totals there.")
    for source, target in ((decision, other), (other, decision)):
        Similarity.objects.create(
            source=source.node_id, target=target.node_id, project_id=project.pk, score=float(np.float32(0.84))
        )
    return other


def test_similar_records_come_with_cosine_trust_and_successors(api, decision, like, agent, project):
    new = create_decision(actor=agent, project=project, title="No cache", decision="None.")
    supersede(actor=agent, decision=like, by=new)
    answer = api.get(f"/records/{decision.node_id}/similar").data
    (found,) = answer["results"]
    assert (found["node_id"], found["score"], found["kind"]) == (like.node_id, 0.84, "decision")
    assert (found["review_state"], found["trust"], found["source_name"]) == ("unreviewed", 0.5, "order-bot")
    assert found["summary"] == "Cache totals there."
    assert [one["node_id"] for one in found["superseded_by"]] == [new.node_id]
    assert api.get(f"/records/{decision.node_id}/similar?reviewed_only=true").data["results"] == []
    assert api.get(f"/records/{decision.node_id}/similar?kind=pattern").data["results"] == []
    assert api.get(f"/records/{decision.node_id}/similar?score=0.9").data["results"] == []


def test_the_neighbourhood_is_the_graph_pages(api, decision, like, outcome):
    answer = api.get(f"/records/{decision.node_id}/neighbourhood?depth=1").data
    assert answer["center"] == decision.node_id
    assert {node["node_id"] for node in answer["nodes"]} == {decision.node_id, like.node_id, outcome.node_id}
    assert {edge["relation"] for edge in answer["edges"]} == {"SIMILAR_TO", "LEADS_TO"}
    only = api.get(f"/records/{decision.node_id}/neighbourhood?relation=LEADS_TO&cap=10&score=0.5").data
    assert {node["node_id"] for node in only["nodes"]} == {decision.node_id, outcome.node_id}


@pytest.mark.parametrize(
    ("question", "query", "named"),
    [
        ("similar", "k=0", "k"),
        ("similar", "k=101", "k"),
        ("similar", "score=nan", "score"),
        ("similar", "kind=thing", "kind"),
        ("similar", "limit=3", "limit"),
        ("similar", "reviewed_only=perhaps", "reviewed_only"),
        ("neighbourhood", "depth=9", "depth"),
        ("neighbourhood", "cap=100000", "cap"),
        ("neighbourhood", "score=2", "score"),
        ("neighbourhood", "relation=LIKES", "relation"),
        ("neighbourhood", "node=dec_1", "node"),
        ("history", "page_size=-1", "page_size"),
        ("history", "after=3", "after"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(api, decision, question, query, named):
    answer = api.get(f"/records/{decision.node_id}/{question}?{query}")
    assert (answer.status_code, list(answer.data["errors"])) == (400, [named])


def noted() -> list[tuple[str, str]]:
    reads.flush_reads()
    return list(Read.objects.order_by("id").values_list("door", "node_id"))


def test_every_read_is_noted_with_who_and_where(api, decision, like, outcome):
    api.get("/decisions", X_Session_Id="ses-1", X_Run_Id="run_9")
    api.get(f"/decisions/{decision.node_id}")
    api.get(f"/decisions/{decision.node_id}/outcomes")
    api.get(f"/records/{decision.node_id}/similar")
    api.get(f"/records/{decision.node_id}/neighbourhood?relation=LEADS_TO")
    assert noted() == [
        ("api.decision.list", like.node_id),
        ("api.decision.list", decision.node_id),
        ("api.decision.retrieve", decision.node_id),
        ("api.decision-outcomes.list", outcome.node_id),
        ("api.record.similar", like.node_id),
        ("api.record.neighbourhood", decision.node_id),
        ("api.record.neighbourhood", outcome.node_id),
    ]
    first = Read.objects.order_by("id").first()
    assert (first.agent_name, first.session, first.run) == ("order-bot", "ses-1", "run_9")
    assert first.token is not None
    assert len(first.request_id) == 32


def test_a_write_or_a_refusal_is_no_read(api, decision, elsewhere):
    api.post("/decisions", {"title": "T", "decision": "D"})
    elsewhere.get(f"/decisions/{decision.node_id}")
    assert noted() == []


@pytest.mark.parametrize(("question", "most"), [("similar", 8), ("neighbourhood", 25), ("history", 5)])
def test_questions_cost_few_queries(api, decision, like, outcome, question, most):
    api.get(f"/records/{decision.node_id}/{question}")
    with CaptureQueriesContext(connection) as captured:
        assert api.get(f"/records/{decision.node_id}/{question}").status_code == 200
    assert len(captured) <= most, [query["sql"] for query in captured]


def test_a_search_answers_with_why_and_notes_the_read(api, decision, like):
    answer = api.get(f"/search?q={decision.node_id}&mode=words")
    assert answer.status_code == 200
    first = answer.data["results"][0]
    assert first["node_id"] == decision.node_id
    assert first["why"] == ["id"]
    assert first["cosine"] is None
    assert first["review_state"] == decision.review_state
    assert noted() == [("api.search", decision.node_id)]
    assert api.get("/search?q=foo:bar").status_code == 400
    assert "foo" in str(api.get("/search?q=foo:bar").data)
    assert api.get("/search").status_code == 400
    assert api.get("/search?q=x&limit=0").status_code == 400
    assert api.get("/search?q=x&project=not-mine").status_code == 400

"""Similar records on pages and in the API come from the graph store that is configured, which is named."""

import pytest

from decisions.actions import create_decision
from graph import connection
from graph.similar import similar_records
from graph.worker import Worker
from graph.worker_thread import due_count
from pitfalls.actions import create_pitfall
from recall.queries import similar_to
from records.verbs import archive, review
from runs.actions import remember
from tests.conftest import make_token

pytestmark = [pytest.mark.graph, pytest.mark.django_db, pytest.mark.usefixtures("clean_graph")]
TEXT = "Order totals are kept in a cache for a minute, and read from the ledger where money is decided."


@pytest.fixture
def like(agent, project):
    """Records of three kinds about one thing, shown in the graph; the first is asked about."""
    made = [
        create_decision(actor=agent, project=project, title=f"Cache order totals {at}", decision=TEXT)
        for at in range(4)
    ]
    made.append(
        create_pitfall(
            actor=agent, project=project, category="cache", title="Order totals in a cache", description=TEXT
        )
    )
    made.append(remember(actor=agent, project=project, agent_name="order-bot", summary=TEXT))
    worker = Worker()
    while due_count():
        worker.work_once()
    return made


def ids(found):
    return [(one.record.node_id, pytest.approx(one.score, abs=2e-6)) for one in found]


def test_the_answer_is_that_of_the_lists_whoever_gives_it(like, agent, curator):
    first = like[0]
    archive([like[1]], actor=curator)
    review([like[2]], "approved", actor=curator)
    for options in (
        {}, {"k": 2}, {"kinds": ["pitfall"]}, {"kinds": ["memory"]}, {"include_hidden": True}, {"reviewed_only": True},
        {"min_score": -1.0}, {"kinds": ["decision", "memory"], "min_score": 0.9},
    ):  # fmt: skip
        answer = similar_records(first, **options)
        assert ids(answer.found) == ids(similar_to(first, **options)), options
        assert answer.answered_by == ("relational" if options.get("kinds") == ["memory"] else "neo4j")


def test_page_and_api_name_the_store(like, project, client, viewer_user, settings):
    client.force_login(viewer_user)
    page = client.get(f"/p/{project.slug}/decisions/{like[0].pk}/").content.decode()
    assert "Answered by Neo4j." in page
    assert like[1].title in page
    settings.GRAPH_URL = "bolt://127.0.0.1:9"  # nobody is there
    connection.forget_connection()
    page = client.get(f"/p/{project.slug}/decisions/{like[0].pk}/").content.decode()
    assert "Neo4j did not answer: read from the relational store." in page
    assert like[1].title in page
    settings.GRAPH_URL = ""
    page = client.get(f"/p/{project.slug}/decisions/{like[0].pk}/").content.decode()
    assert "Neo4j" not in page


def test_the_api_names_the_store(like, project, client):
    headers = {"Authorization": f"Bearer {make_token(project)[1]}"}
    answer = client.get(f"/api/v1/records/{like[0].node_id}/similar", headers=headers).json()
    assert answer["answered_by"] == "neo4j"
    assert len(answer["results"]) == 5

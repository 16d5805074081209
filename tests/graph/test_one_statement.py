"""A neighbourhood costs one statement in Cypher, beside the look at the marks, whatever is asked of it."""

import neo4j
import pytest

from decisions.models import Decision
from graph.neo4j import Neo4jGraph
from graph.projector import Neo4jProjector
from graph.queries import graph_store
from graph.store import NoSuchNode, Within
from tests.contract.world import World
from tests.graph.server import show_everything

pytestmark = [pytest.mark.graph, pytest.mark.django_db, pytest.mark.usefixtures("clean_graph")]


@pytest.fixture
def said(monkeypatch):
    """Every Cypher statement that the driver sends from now on, whatever session or transaction sends it."""
    heard = []
    for way in (neo4j.Session, neo4j.Transaction, neo4j.ManagedTransaction):
        send = way.run

        def run(self, query, *given, _send=send, **options):
            heard.append(getattr(query, "text", query))
            return _send(self, query, *given, **options)

        monkeypatch.setattr(way, "run", run)
    begin = neo4j.Session.begin_transaction
    monkeypatch.setattr(
        neo4j.Session, "begin_transaction", lambda *a, **k: (heard.append("BEGIN"), begin(*a, **k))[1]
    )
    return heard


@pytest.fixture
def chain(project):
    """dec_1 to dec_9, each like the next, and all like dec_9: three hops lead to more than is asked for."""
    world = World()
    for key in range(1, 10):
        world.add(Decision, key, project.pk, title=f"D{key}", decision="d")
    world.alike([(f"dec_{key}", f"dec_{key + 1}", 0.9) for key in range(1, 9)])
    world.alike([(f"dec_{key}", "dec_9", 0.6) for key in range(3, 8)])
    show_everything()
    return Within(project_id=project.pk)


@pytest.mark.parametrize("known", [(), ("dec_1", "dec_2")])
@pytest.mark.parametrize(("depth", "cap"), [(1, 30), (2, 3), (2, 30), (3, 30)])
def test_a_neighbourhood_is_one_statement_of_cypher_and_one_of_sql(
    chain, said, django_assert_num_queries, depth, cap, known
):
    store = graph_store()
    with django_assert_num_queries(1):
        hood = store.neighbourhood("dec_1", chain, depth=depth, cap=cap, known=known)
    assert store.name == "neo4j"
    assert len(said) == 1
    reached = {
        1: ["dec_1", "dec_2"],
        2: ["dec_1", "dec_2", "dec_3"],
        3: ["dec_1", "dec_2", "dec_3", "dec_4", "dec_9"],
    }
    assert [node.id for node in hood.nodes] == [node for node in reached[depth] if node not in known]


def test_a_record_that_is_not_there_costs_one_statement_before_the_database_is_asked(chain, said):
    store = graph_store()
    with pytest.raises(NoSuchNode):
        store.neighbourhood("dec_77", chain)
    assert len(said) == 1


def test_filters_share_few_texts(chain, said):
    """The server plans each text anew, which takes longer than a hundred answers."""
    store = graph_store()
    for least in (0.0, 0.5):
        for kinds in (None, frozenset({"decision"})):
            for hidden in (False, True):
                within = Within(project_id=chain.project_id, min_score=least, kinds=kinds, hidden=hidden)
                for cap in (1, 30):
                    store.neighbourhood("dec_1", within, depth=2, cap=cap)
    assert len(said) == 16
    assert len(set(said)) == 1


def test_what_is_gone_is_no_node_and_no_known_one(chain):
    Neo4jProjector().project((), ["dec_2"], {"dec_2": 2})
    store = Neo4jGraph()
    with pytest.raises(NoSuchNode):
        store.neighbourhood("dec_2", chain)
    hood = store.neighbourhood("dec_1", chain, depth=3, known=["dec_2", "dec_9", "dec_999"])
    assert ([node.id for node in hood.nodes], hood.edges) == (["dec_1"], [])

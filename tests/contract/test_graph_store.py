"""What every graph store answers, compared with a plain-Python reading of the same rows."""

import random

import numpy as np
import pytest
from django.utils import timezone

from decisions.models import Decision, Outcome
from graph.relational import RelationalGraph
from graph.store import NoSuchNode, Relation, Within
from patterns.models import Pattern
from recall.models import Embedding
from recall.vectors import configured_encoder, forget_vectors
from tests.contract.world import World, random_world

pytestmark = [pytest.mark.database, pytest.mark.django_db]

STORES = ["relational", pytest.param("neo4j", marks=pytest.mark.graph)]


@pytest.fixture(params=STORES)
def store(request):
    if request.param == "relational":
        return RelationalGraph()
    return request.getfixturevalue("shown_graph")


def answered(hood):
    nodes = [(node.id, node.hop) for node in hood.nodes]
    edges = {(edge.source, edge.target, edge.relation, edge.score) for edge in hood.edges}
    assert len(edges) == len(hood.edges)
    return nodes, edges, hood.total, hood.truncated, hood.at_least


def random_within(rng, project_id):
    return Within(
        project_id=project_id,
        relations=frozenset(rng.sample(list(Relation), rng.randint(1, 6)))
        if rng.random() < 0.5
        else frozenset(Relation),
        min_score=rng.choice([0.0, 0.6, 0.75]),
        kinds=frozenset(rng.sample(["decision", "outcome", "pattern", "pitfall"], 2))
        if rng.random() < 0.4
        else None,
        hidden=rng.random() < 0.2,
    )


@pytest.mark.parametrize("seed", range(6))
def test_neighbourhoods_are_what_a_plain_reading_of_the_rows_gives(store, seed, monkeypatch):
    if seed % 2:  # every node a hub: the way that is otherwise for thousands
        monkeypatch.setattr("graph.offers.ORDINARY", 0)
        monkeypatch.setattr("graph.offers.ORDINARY_A_NODE", 0)
    rng = random.Random(seed)
    world, projects = random_world(rng)
    for _ in range(70):
        project = rng.choice(projects)
        here = world.nodes(project.pk)
        center, within = rng.choice(here), random_within(rng, project.pk)
        store.look = rng.choice([2, 5, 100])
        asked = {"depth": rng.randint(1, 3), "cap": rng.choice([1, 3, 8, 30])}
        if rng.random() < 0.4:
            asked["known"] = {center, *rng.sample(here, min(len(here), rng.randint(0, 9)))}
        expected = world.neighbourhood(center, within, look=store.look, **asked)
        assert answered(store.neighbourhood(center, within, **asked)) == expected, (center, within, asked)


@pytest.mark.parametrize("seed", range(3))
def test_degrees_count_the_neighbours_within_the_filters(store, seed):
    rng = random.Random(seed)
    world, (project, *_) = random_world(rng)
    store.look = 12
    for center in world.nodes(project.pk)[:10]:
        within = random_within(rng, project.pk)
        for node in store.neighbourhood(center, within, depth=2, cap=20).nodes:
            offered, _cut = world.offers(node.id, within, store.look)
            assert node.degree == len({other for _, _, other, _ in offered})


def test_the_same_question_has_the_same_answer(store):
    world, (project, *_) = random_world(random.Random(5))
    within = Within(project_id=project.pk)
    center = world.nodes(project.pk)[0]
    assert store.neighbourhood(center, within, depth=3) == store.neighbourhood(center, within, depth=3)


def test_asserted_relations_come_before_likeness_and_contradictions_first(store, project):
    world = World()
    for key in range(1, 6):
        world.add(Decision, key, project.pk, title=f"D{key}", decision="d")
    world.alike([("dec_1", "dec_2", 0.99)])
    world.link("dec_3", "SUPERSEDES", "dec_1")
    world.link("dec_1", "CONTRADICTS", "dec_5")
    world.link("dec_1", "RELATES_TO", "dec_4")
    hood = store.neighbourhood("dec_1", Within(project_id=project.pk), cap=4)
    assert [node.id for node in hood.nodes] == ["dec_1", "dec_5", "dec_4", "dec_3"]
    assert (hood.total, hood.truncated, hood.at_least) == (5, True, False)


def test_a_hub_gives_its_best_and_says_that_there_are_more(store, project):
    world = World()
    for key in range(1, 302):
        world.add(
            Decision,
            key,
            project.pk,
            title=f"D{key}",
            decision="d",
            archived_at=timezone.now() if key % 2 else None,
        )
    world.alike([(f"dec_{key}", "dec_1", 0.5 + key / 1000) for key in range(2, 302)])
    hood = store.neighbourhood("dec_1", Within(project_id=project.pk), depth=2, cap=30)
    assert [node.id for node in hood.nodes[:3]] == ["dec_1", "dec_300", "dec_298"]
    assert (len(hood.nodes), hood.truncated, hood.at_least, hood.nodes[0].degree) == (30, True, True, 100)
    assert [node.id for node in hood.nodes if node.has_more] == ["dec_1"]
    known = [node.id for node in hood.nodes]
    more = store.neighbourhood("dec_1", Within(project_id=project.pk), cap=15, known=known)
    assert [node.id for node in more.nodes] == [f"dec_{key}" for key in range(242, 212, -2)]
    assert {edge.other("dec_1") for edge in more.edges} == {node.id for node in more.nodes}


def test_an_edge_between_two_hubs_is_shown_though_neither_would_choose_it(store, project):
    world = World()
    for key in range(1, 30):
        world.add(Decision, key, project.pk, title=f"D{key}", decision="d")
    world.alike([("dec_1", f"dec_{key}", 0.9) for key in range(3, 30)])
    world.alike([("dec_2", f"dec_{key}", 0.9) for key in range(3, 30)])
    world.alike([("dec_1", "dec_2", 0.5)])
    world.link("dec_1", "RELATES_TO", "dec_2")
    store.look = 4
    hood = store.neighbourhood("dec_1", Within(project_id=project.pk), cap=3)
    assert ("dec_1", "dec_2", Relation.SIMILAR_TO, 0.5) in answered(hood)[1]


def test_relations_side_by_side_are_each_an_edge_and_one_neighbour(store, project):
    world = World()
    for key in range(1, 6):
        world.add(Decision, key, project.pk, title=f"D{key}", decision="d")
    for relation in ("SUPERSEDES", "DUPLICATE_OF"):
        world.link("dec_1", relation, "dec_2")
        world.link("dec_2", relation, "dec_1")
    world.link("dec_1", "CONTRADICTS", "dec_2")
    world.alike([("dec_1", "dec_2", 0.99), ("dec_1", "dec_3", 0.9), ("dec_4", "dec_1", 0.9)])
    within = Within(project_id=project.pk)
    hood = store.neighbourhood("dec_1", within, depth=2)
    assert [(node.id, node.hop, node.degree) for node in hood.nodes] == [
        ("dec_1", 0, 3),
        ("dec_2", 1, 1),
        ("dec_3", 1, 1),
        ("dec_4", 1, 1),
    ]
    assert len(hood.edges) == 8
    store.look = 6  # as many as lead to dec_2
    cut = store.neighbourhood("dec_1", within, depth=2)
    assert [(node.id, node.degree) for node in cut.nodes] == [("dec_1", 1), ("dec_2", 1)]
    assert (len(cut.edges), cut.total, cut.at_least) == (6, 2, True)


def test_known_nodes_count_where_they_are_of_the_project(store, project, other_project):
    world = World()
    for key in (1, 2, 3, 4):
        world.add(Decision, key, project.pk, title=f"D{key}", decision="d")
    world.add(Decision, 5, other_project.pk, title="D5", decision="d")
    world.add(Decision, 6, project.pk, title="D6", decision="d", review_state="rejected")
    world.alike([("dec_1", other, 0.9) for other in ("dec_2", "dec_3", "dec_5", "dec_6")])
    world.alike(
        [("dec_2", "dec_4", 0.8), ("dec_3", "dec_4", 0.7), ("dec_5", "dec_4", 0.9), ("dec_6", "dec_4", 0.9)]
    )
    known = ["dec_1", "dec_2", "dec_5", "dec_6", "dec_999", "nonsense"]
    hood = store.neighbourhood("dec_1", Within(project_id=project.pk), depth=2, cap=2, known=known)
    assert [(node.id, node.hop) for node in hood.nodes] == [("dec_3", 1), ("dec_4", 2)]
    # A hidden one that is known is drawn already, so what leads to it is shown; it is not walked through.
    assert {(edge.source, edge.target) for edge in hood.edges} == {
        ("dec_1", "dec_3"),
        ("dec_2", "dec_4"),
        ("dec_3", "dec_4"),
        ("dec_4", "dec_6"),
    }


@pytest.mark.parametrize(
    "absent", ["dec_2", "dec_999", "pat_1", "run_" + "0" * 32, "nonsense", "mem_" + "0" * 32]
)
def test_a_record_elsewhere_or_nowhere_is_no_node(store, project, other_project, absent):
    world = World()
    world.add(Decision, 1, project.pk, title="Here", decision="d")
    world.add(Decision, 2, other_project.pk, title="There", decision="d")
    world.alike([("dec_1", "dec_2", 0.9), ("dec_2", "dec_1", 0.9)])
    within = Within(project_id=project.pk)
    assert [node.id for node in store.neighbourhood("dec_1", within).nodes] == ["dec_1"]
    for ask in (store.neighbourhood, store.similar):
        with pytest.raises(NoSuchNode):
            ask(absent, within)
    with pytest.raises(NoSuchNode):
        store.path("dec_1", absent, within)


def test_a_hidden_record_can_be_the_center_but_is_no_neighbour(store, project):
    world = World()
    world.add(Decision, 1, project.pk, title="Hidden", decision="d", review_state="rejected")
    world.add(Decision, 2, project.pk, title="Shown", decision="d")
    world.alike([("dec_1", "dec_2", 0.9), ("dec_2", "dec_1", 0.9)])
    within = Within(project_id=project.pk)
    assert [(node.id, node.active) for node in store.neighbourhood("dec_1", within).nodes] == [
        ("dec_1", False),
        ("dec_2", True),
    ]
    assert [node.id for node in store.neighbourhood("dec_2", within).nodes] == ["dec_2"]
    both = store.neighbourhood("dec_2", Within(project_id=project.pk, hidden=True)).nodes
    assert [node.id for node in both] == ["dec_2", "dec_1"]


@pytest.mark.parametrize("seed", range(3))
def test_paths_are_as_short_as_can_be_and_hold_together(store, seed):
    rng = random.Random(seed)
    world, (project, *_) = random_world(rng)
    here = world.nodes(project.pk)
    for _ in range(60):
        source, target = rng.choice(here), rng.choice(here)
        within = random_within(rng, project.pk)
        found = store.path(source, target, within, max_depth=5)
        distance = 0 if source == target else world.distance(source, target, within, 5)
        if ({source, target} & world.hidden and not within.hidden) or not all(
            world.shown(end, within) for end in (source, target)
        ):
            continue  # an end that the filters hide has its own test
        assert (None if found is None else len(found.edges)) == distance
        if found:
            assert (found.nodes[0].id, found.nodes[-1].id) == (source, target)
            for step, edge in enumerate(found.edges):
                ends = {found.nodes[step].id, found.nodes[step + 1].id}
                assert {edge.source, edge.target} == ends
                assert (edge.source, edge.target, edge.relation) in world.all_edges(within)


def test_similar_gives_all_k_in_order_with_plain_cosine(store, project):
    world = World()
    for key in range(1, 40):
        world.add(
            Decision,
            key,
            project.pk,
            title=f"D{key}",
            decision="d",
            review_state="rejected" if key % 3 == 0 else "approved",
        )
    world.add(Pattern, 1, project.pk, category="c", name="P")
    scores = {key: 0.6 if key < 10 else 0.6 + key / 100 for key in range(2, 40)}
    world.alike([("dec_1", f"dec_{key}", score) for key, score in scores.items()])
    world.alike([("pat_1", "dec_1", 0.995)])
    expected = sorted(
        ((-score, f"dec_{key}") for key, score in scores.items() if key % 3), key=lambda item: item
    )
    found = store.similar("dec_1", Within(project_id=project.pk, kinds=frozenset({"decision"})), k=20)
    assert [(similar.node.id, similar.score) for similar in found] == [
        (node, -score) for score, node in expected[:20]
    ]
    assert store.similar("dec_1", Within(project_id=project.pk), k=1)[0].node.id == "pat_1"
    assert all(
        similar.score >= 0.8
        for similar in store.similar("dec_1", Within(project_id=project.pk, min_score=0.8), k=50)
    )


@pytest.mark.parametrize("size", [3, 60])
def test_similar_by_vector_is_exact_and_full_in_a_project_of_any_size(store, project, other_project, size):
    world, rng, encoder = World(), np.random.default_rng(3), configured_encoder()
    vectors = rng.normal(size=(400, encoder.dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for key, vector in enumerate(vectors, start=1):
        owner = project if key <= size else other_project
        world.add(
            Decision,
            key,
            owner.pk,
            title=f"D{key}",
            decision="d",
            review_state="rejected" if key % 4 == 0 else "approved",
        )
        Embedding.objects.create(
            node_id=f"dec_{key}", kind="decision", project_id=owner.pk, part=0, model=encoder.name,
            content_hash="", vector=vector.astype("<f4").tobytes(),
        )  # fmt: skip
    forget_vectors()
    query = vectors[0]
    cosines = {f"dec_{key}": float(vectors[key - 1] @ query) for key in range(1, size + 1) if key % 4}
    expected = sorted(cosines, key=lambda node: -cosines[node])[:10]
    found = store.similar_by_vector(query, Within(project_id=project.pk, min_score=-1.0), k=10)
    assert [similar.node.id for similar in found] == expected
    assert [similar.score for similar in found] == pytest.approx(
        [cosines[node] for node in expected], abs=2e-6
    )


def test_outcomes_after_decisions_and_decisions_that_led_to_an_outcome(store, project, other_project):
    world = World()
    for key in (1, 2, 3):
        world.add(
            Decision,
            key,
            project.pk,
            title=f"D{key}",
            decision="d",
            review_state="rejected" if key == 3 else "approved",
        )
    world.add(Decision, 9, other_project.pk, title="D9", decision="d")
    rows = [
        (1, 1, "outage", {}),
        (2, 1, "success", {}),
        (10, 1, "outage", {}),
        (3, 2, "outage", {"review_state": "rejected"}),
        (4, 3, "outage", {}),
    ]
    for key, decision, kind, state in rows:
        world.add(Outcome, key, project.pk, decision_id=decision, type=kind, **state)
    world.add(Outcome, 5, other_project.pk, decision_id=9, type="outage")
    within = Within(project_id=project.pk)
    followed = store.outcomes_after(["dec_1", "dec_2"], within)
    assert {node: [outcome.id for outcome in outcomes] for node, outcomes in followed.items()} == {
        "dec_1": ["out_1", "out_10", "out_2"],
        "dec_2": [],
    }
    assert followed["dec_1"][0].status == "outage"
    led = store.led_to("outage", within)
    assert {(decision.id, outcome.id) for decision, outcome in led} == {
        ("dec_1", "out_1"),
        ("dec_1", "out_10"),
    }
    assert store.led_to("earthquake", within) == []

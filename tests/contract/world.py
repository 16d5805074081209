"""Random worlds of records and relations, and a plain-Python oracle of what a graph store must answer about them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from decisions.models import Decision, Outcome
from graph.store import SYMMETRICAL, Relation, Within
from patterns.models import Pattern
from pitfalls.models import Pitfall
from projects.models import Project
from recall.models import Similarity
from records.guard import writing
from records.models import Link

RANKS = {relation: rank for rank, relation in enumerate(Relation)}
PREFIX_KINDS = {"dec": "decision", "out": "outcome", "pat": "pattern", "pit": "pitfall", "mem": "memory"}
STATES = [{"review_state": "rejected"}, {"review_state": "quarantined"}, {"merged_into": "dec_1"}]


@dataclass
class World:
    """What was written. `edges` are (source, target, relation, score) as a reader of the rows would list them."""

    project_of: dict[str, int] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    edges: list[tuple[str, str, Relation, float | None]] = field(default_factory=list)

    def nodes(self, project_id: int) -> list[str]:
        return [node for node, owner in self.project_of.items() if owner == project_id]

    # --- writing -------------------------------------------------------------------------------------------------
    def add(self, model, key, project_id, **fields):
        node_id = f"{model.prefix}_{key}"
        self.project_of[node_id] = project_id
        if (
            fields.get("archived_at")
            or fields.get("merged_into")
            or fields.get("review_state") in ("rejected", "quarantined")
        ):
            self.hidden.add(node_id)
        with writing():
            model.objects.bulk_create([model(pk=key, project_id=project_id, **fields)])
        return node_id

    def link(self, source, relation, target):
        with writing():
            Link.objects.bulk_create(
                [Link(project_id=self.project_of[source], source=source, relation=relation, target=target)]
            )
        self.edges.append((source, target, Relation(relation), None))

    def alike(self, pairs):
        """(source, target, score) rows, as they are: in one direction or both."""
        rows = [
            Similarity(project_id=self.project_of.get(s, 1), source=s, target=t, score=score)
            for s, t, score in pairs
        ]
        Similarity.objects.bulk_create(rows, batch_size=500)
        self.edges += [(s, t, Relation.SIMILAR_TO, score) for s, t, score in pairs]

    # --- the oracle ----------------------------------------------------------------------------------------------
    def shown(self, node, within: Within) -> bool:
        kind = PREFIX_KINDS[node.partition("_")[0]]
        return (
            self.project_of.get(node) == within.project_id
            and kind != "memory"
            and (within.kinds is None or kind in within.kinds)
            and (within.hidden or node not in self.hidden)
        )

    def all_edges(self, within: Within) -> dict[tuple[str, str, Relation], float | None]:
        kept: dict[tuple[str, str, Relation], float | None] = {}
        for source, target, relation, score in self.edges:
            if relation not in within.relations or (score is not None and score < within.min_score):
                continue
            if relation in SYMMETRICAL and source > target:
                source, target = target, source
            key = (source, target, relation)
            if key not in kept or (score or 0) > (kept[key] or 0):
                kept[key] = score
        return kept

    def offers(self, node, within, look):
        """([(rank, other, edge key)] best first and cut to look, whether it was cut)."""
        found = []
        for (source, target, relation), score in self.all_edges(within).items():
            if node in (source, target):
                other = target if node == source else source
                if self.shown(other, within):
                    found.append((RANKS[relation], -(score or 0.0), other, (source, target, relation)))
        found.sort(key=lambda item: item[:3])
        return found[:look], len(found) > look

    def neighbourhood(self, center, within, *, depth, cap, known=(), look=100):
        """(ids in order with hops, edges, total, truncated, at_least)."""
        known, look = set(known), look + len(known)
        room = cap - (center not in known)
        order = [] if center in known else [(center, 0)]
        reached, frontier, left, at_least = {center}, [center], set(), False
        for hop in range(1, depth + 1):
            best = {}
            for node in frontier:
                offered, cut = self.offers(node, within, look)
                at_least |= cut
                for rank, score, other, _ in offered:
                    if other not in reached:
                        best[other] = min(best.get(other, (99, 0, "")), (rank, score, other))
            ranked = sorted(best, key=best.get)
            fresh = [node for node in ranked if node not in known]
            taken = fresh[:room]
            room -= len(taken)
            left |= set(fresh) - set(taken)
            frontier = taken + [node for node in ranked if node in known]
            reached |= set(frontier)
            order += [(node, hop) for node in taken]
            if not frontier:
                break
            if room == 0 and hop < depth:
                at_least = True
                break
        new = {node for node, _ in order}
        drawn = new | known
        edges = {
            (source, target, relation, score)
            for (source, target, relation), score in self.all_edges(replace(within, hidden=True)).items()
            if source in drawn and target in drawn and (source in new or target in new)
        }
        return order, edges, len(order) + len(left), at_least or bool(left), at_least

    def distance(self, source, target, within, limit):
        """Steps of a shortest path through shown nodes (the ends whatever their state); None beyond the limit."""
        steps, reached, frontier = 0, {source}, {source}
        while frontier and steps < limit:
            steps += 1
            following = set()
            for one, two, _ in self.all_edges(within):
                for near, far in ((one, two), (two, one)):
                    if near in frontier and far not in reached and (far == target or self.shown(far, within)):
                        following.add(far)
            if target in following:
                return steps
            reached |= following
            frontier = following
        return None


def random_world(rng: random.Random, sizes=(40, 12, 3, 1)) -> tuple[World, list[Project]]:
    """Projects of uneven size; ties of score, cycles, hidden records, rows across the walls, ids of no record."""
    world, projects, keys = World(), [], dict.fromkeys((Decision, Outcome, Pattern, Pitfall), 0)

    def key(model):
        keys[model] += rng.randint(1, 4)
        return keys[model]

    def state():
        return rng.choice(STATES) if rng.random() < 0.15 else {}

    for number, size in enumerate(sizes):
        project = Project.objects.create(name=f"P{number}", slug=f"p{number}-{rng.randint(0, 10**9)}")
        projects.append(project)
        for _ in range(size):
            model = rng.choice([Decision, Decision, Decision, Pattern, Pitfall])
            fields = {
                Decision: {"title": "Décision", "decision": "d"},
                Pattern: {"category": "c", "name": "Pattern"},
                Pitfall: {"category": "c", "title": "Pitfall", "severity": "high"},
            }[model]
            world.add(model, key(model), project.pk, **fields, **state())
        for decision in [node for node in world.nodes(project.pk) if node.startswith("dec")]:
            for _ in range(rng.choice([0, 0, 1, 3])):
                number_of = int(decision.partition("_")[2])
                kind = rng.choice(["outage", "success"])
                made = world.add(
                    Outcome, key(Outcome), project.pk, decision_id=number_of, type=kind, **state()
                )
                world.edges.append((decision, made, Relation.LEADS_TO, None))
    everyone = list(world.project_of)
    links, pairs = set(), {}
    for project in projects:
        here = world.nodes(project.pk)
        for _ in range(len(here) * 2):
            source, target = rng.choice(here), rng.choice(here)
            if rng.random() < 0.06:
                target = rng.choice(everyone)
            if source == target:
                continue
            if rng.random() < 0.3:
                links.add(
                    (source, rng.choice(["CONTRADICTS", "SUPERSEDES", "RELATES_TO", "DUPLICATE_OF"]), target)
                )
            else:
                score = rng.choice([0.5, 0.6, 0.6, 0.61, 0.75, 0.9, 0.9, 1.0])
                pairs.setdefault((source, target), score)
                if rng.random() < 0.7:
                    pairs.setdefault((target, source), score)
        hub = rng.choice(here)
        for other in here[: rng.randint(0, 20)]:
            if other != hub:
                pairs.setdefault((other, hub), rng.choice([0.6, 0.8]))
    for source, relation, target in sorted(links):
        world.link(source, relation, target)
    some = everyone[0]
    world.alike([(s, t, score) for (s, t), score in pairs.items()])
    world.alike([(some, "mem_" + "0" * 32, 0.99), (some, "dec_999999", 0.98)])
    return world, projects

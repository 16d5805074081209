"""The links of the reference load: which records of a project somebody related, a few of them again and again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from desk.reference.layout import Layout
from records.links import SYMMETRICAL
from records.models import Relation

# How often each relation is said, and how strongly the earliest records are preferred as its target.
WEIGHTS = {Relation.RELATES_TO: 6, Relation.CONTRADICTS: 1, Relation.SUPERSEDES: 2, Relation.DUPLICATE_OF: 1}
HUBS = 3.0
TRIES = 20


@dataclass
class PlannedLinks:
    """(source place, relation, target place); `superseded`: the decisions that a link says are so."""

    links: list[tuple[int, Relation, int]] = field(default_factory=list)
    superseded: set[int] = field(default_factory=set)


def plan_links(layout: Layout, count: int, node_ids: Sequence[str]) -> PlannedLinks:
    """`count` links between graph nodes of one project each; SUPERSEDES and DUPLICATE_OF point back in time."""
    rng = random.Random(f"{layout.seed} links")
    by_project: list[dict[str, list[int]]] = [{} for _ in range(layout.projects)]
    for kind in layout.counts:
        if kind not in ("memory", "outcome"):
            for place in layout.places_of(kind):
                by_project[layout.project[place]].setdefault(kind, []).append(place)
    sizes = np.array([sum(map(len, kinds.values())) for kinds in by_project], dtype=np.float64)
    planned, said = PlannedLinks(), set[tuple[str, str, str]]()
    wanted = np.floor(count * sizes / sizes.sum()).astype(int)
    wanted[0] += count - wanted.sum()
    for kinds, number in zip(by_project, wanted.tolist(), strict=True):
        everyone = [place for places in kinds.values() for place in places]
        for _ in range(number):
            for _try in range(TRIES):
                relation = rng.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
                pair = _pair(rng, relation, kinds, everyone)
                if pair is None:
                    continue
                source, target = pair
                if relation in SYMMETRICAL and node_ids[source] > node_ids[target]:
                    source, target = target, source
                key = (node_ids[source], relation.value, node_ids[target])
                if key not in said:
                    said.add(key)
                    planned.links.append((source, relation, target))
                    if relation == Relation.SUPERSEDES:
                        planned.superseded.add(target)
                    break
    return planned


def _pair(
    rng: random.Random, relation: Relation, kinds: dict[str, list[int]], everyone: list[int]
) -> tuple[int, int] | None:
    among = everyone
    if relation == Relation.SUPERSEDES:
        among = kinds.get("decision", [])
    elif relation == Relation.DUPLICATE_OF:
        among = rng.choice(list(kinds.values())) if kinds else []
    if len(among) < 2:
        return None
    source = rng.choice(among)
    target = among[int(len(among) * rng.random() ** HUBS)]
    if source == target:
        return None
    if relation not in SYMMETRICAL and source < target:
        source, target = target, source
    return source, target

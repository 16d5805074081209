"""How many records of which kind stand in which project, and what belongs together: numbers only, no text yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# Shares of the graph's nodes. Memories of runs are no nodes: they come on top, as many as this share.
SHARES = {"decision": 0.36, "pattern": 0.18, "pitfall": 0.16, "session": 0.08, "run": 0.10, "outcome": 0.12}
MEMORIES = 0.04
# The largest of sixty projects then has a third of everything, and most have a few hundred records.
ZIPF = 1.35
PROJECTS_AT_50000 = 60
PREFIXES = {
    "decision": "dec",
    "pattern": "pat",
    "pitfall": "pit",
    "session": "ses",
    "run": "run",
    "outcome": "out",
    "memory": "mem",
}


@dataclass(frozen=True)
class Layout:
    """Every record has a place (0, 1, …), kind after kind; `project` counts from 0, `topic` over all projects.

    A topic is a group of records about one thing, of one project; those below `encoded_topics` get real vectors.
    """

    seed: int
    counts: dict[str, int]
    projects: int
    project: Ints
    topic: Ints
    encoded_topics: int

    @property
    def nodes(self) -> int:
        """Of the graph: all but memories."""
        return len(self.project) - self.counts["memory"]

    def places_of(self, kind: str) -> range:
        start = 0
        for name, count in self.counts.items():
            if name == kind:
                return range(start, start + count)
            start += count
        raise KeyError(kind)

    def members(self) -> Iterator[Ints]:
        """The places of each topic, topic after topic."""
        order = np.argsort(self.topic, kind="stable")
        edges = np.flatnonzero(np.diff(self.topic[order])) + 1
        yield from np.split(order, edges)

    @property
    def encoded(self) -> Ints:
        """The places whose record vector comes from the encoder."""
        return np.flatnonzero(self.topic < self.encoded_topics)


def kind_counts(nodes: int) -> dict[str, int]:
    counts = {kind: max(1, round(nodes * share)) for kind, share in SHARES.items()}
    counts["decision"] += nodes - sum(counts.values())
    return {**counts, "memory": max(1, round(nodes * MEMORIES))}


def project_shares(projects: int) -> NDArray[np.float64]:
    weights = 1.0 / np.arange(1, projects + 1) ** ZIPF
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def lay_out(
    *, seed: int, nodes: int, encoded: int, likenesses_a_node: float, projects: int | None = None
) -> Layout:
    """`likenesses_a_node`: how many pairs of like records there should be, by node, among those not encoded."""
    rng = np.random.default_rng([seed, 1])
    counts = kind_counts(nodes)
    count = projects or max(3, round(PROJECTS_AT_50000 * (nodes / 50_000) ** 0.5))
    total = sum(counts.values())
    project = rng.choice(count, size=total, p=project_shares(count)).astype(np.int64)
    # Outcomes follow decisions of their own project, memories are of its runs: without any there they move to the first.
    at = 0
    for kind, number in counts.items():
        mine = project[at : at + number]
        if kind in NEEDS:
            first = _start(counts, NEEDS[kind])
            there = np.unique(project[first : first + counts[NEEDS[kind]]])
            mine[~np.isin(mine, there)] = there[0]
        at += number
    topic = np.zeros(total, dtype=np.int64)
    groups: list[Any] = []
    for one in range(count):
        here = rng.permutation(np.flatnonzero(project == one))
        while len(here):
            size = int(rng.integers(1, 1 + _largest_group(likenesses_a_node)))
            groups.append(here[:size])
            here = here[size:]
    # Whole groups are encoded, drawn from all projects alike.
    order = rng.permutation(len(groups))
    encoded_topics, encoded_places = 0, 0
    for number, position in enumerate(order):
        topic[groups[position]] = number
        if encoded_places < encoded:
            encoded_places += len(groups[position])
            encoded_topics = number + 1
    return Layout(seed, counts, count, project, topic, encoded_topics)


NEEDS = {"outcome": "decision", "memory": "run"}


def _start(counts: dict[str, int], kind: str) -> int:
    names = list(counts)
    return sum(counts[name] for name in names[: names.index(kind)])


def _largest_group(likenesses_a_node: float) -> int:
    """Of groups of 1 to M records, equally often, a record's group has (2M + 1) / 3: so many pairs by record / 2."""
    return max(1, round((3 * (2 * likenesses_a_node + 1) - 1) / 2))

"""The tables of the reference benchmark, as benchmarks/README.md holds them."""

from __future__ import annotations

import os
import random
from typing import Any

from django.db import connection

from benchmarks.reference_graph import GraphReads, project_sizes
from benchmarks.reference_sql import raw, sql_pairs
from benchmarks.side_by_side import HEADER, Pair, row
from benchmarks.timing import HEADER as ALONE
from benchmarks.timing import measure
from benchmarks.timing import row as row_alone
from graph import connection as graph_connection
from graph import cypher, cypher_schema


def say(line: str = "") -> None:
    print(line, flush=True)


def say_what_is_there() -> None:
    version, edition = cypher_schema.server()
    mysql = raw("SELECT VERSION()")[0][0]
    size = raw(
        "SELECT SUM(data_length + index_length) / 1e9 FROM information_schema.tables WHERE table_schema = DATABASE()"
    )[0][0]
    sizes = project_sizes()
    nodes, relations = (
        sum(cypher_schema.counts_by_kind().values()),
        sum(cypher_schema.counts_by_relation().values()),
    )
    say(
        f"MySQL {mysql}, {size:.2f} GB; Neo4j {version} {edition}; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    )
    say(
        f"{nodes:,} nodes, {relations:,} relations, {len(sizes)} projects: the largest has {sizes[0].records:,} records,"
        f" the median one {sizes[len(sizes) // 2].records:,}; {len(cypher.project_indexes())} have a vector index"
    )


def _table(title: str, pairs: list[Pair], goal: float) -> bool:
    say(f"\n{title}\n\n{HEADER}")
    for pair in pairs:
        say(row(pair, goal))
    return all(pair.ours95 <= goal and pair.is_near_raw for pair in pairs)


def sql(times: int, rng: random.Random, goal: float) -> bool:
    projects = [size.project for size in project_sizes() for _ in range(max(1, size.records // 500))]
    return _table(
        "SQL reads, through queries.py, beside the plain statement", sql_pairs(projects, times, rng), goal
    )


def graph(times: int, rng: random.Random, goal: float, wish: float) -> bool:
    reads = GraphReads(graph_connection.driver(), times, rng)
    pairs = [*reads.pairs(), *reads.vector_pairs()]
    met = _table("Graph reads, through the store that pages ask (Neo4j), beside plain Cypher", pairs, goal)
    within = sum(pair.ours95 <= wish for pair in pairs)
    say(f"\n{within} of {len(pairs)} are within {wish:g} ms at p95.")
    say(f"\nThe same questions to the relational store\n\n{ALONE}")
    for what, ask in reads.relational():
        say(row_alone(what, measure(ask, times=max(20, times // 4))))
    return met


def recall(queries: int, rng: random.Random, goal: float) -> bool:
    found = GraphReads(graph_connection.driver(), 0, rng).recall_at_10(queries)
    say(f"\nRecall@10 against the exact ten, {queries} vectors a project, {len(found)} projects")
    say("\n| records of the project | recall@10 |\n| ---: | ---: |")
    shown: list[Any] = sorted(found, key=lambda one: one[1])[:3] + found[:6]
    for size, share in sorted({(size.records, share) for size, share in shown}, reverse=True):
        say(f"| {size:,} | {share:.3f} |")
    worst = min(share for _, share in found)
    mean = sum(share for _, share in found) / len(found)
    say(f"\nMean {mean:.4f}, the worst project {worst:.3f}.")
    connection.close()
    return worst >= goal

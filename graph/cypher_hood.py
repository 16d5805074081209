"""The Cypher statement that reads a neighbourhood: every hop, degree and relation of it at once.

What each node offers stays in the server, where the next hop is chosen of it; only what is shown comes back. There are
few texts (of each depth and pattern one, and one more where nodes are known), because the server plans each anew.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from graph.connection import fetch
from graph.cypher import NEAR_ENOUGH, Card, best, card_of, counting, pattern_of, walking
from graph.store import Within


@dataclass(frozen=True)
class HoodNode:
    """`card`: see `graph.cypher`; `neighbours`: distinct ones among the relations that were looked at; `cut`: it has more."""

    card: Card
    hop: int
    neighbours: int
    cut: bool


@dataclass(frozen=True)
class Hood:
    """The nodes in the order of the walk; of each hop how many unknown ones it found, taken or not; relations, each once."""

    nodes: list[HoodNode]
    found: list[int]
    edges: list[tuple[str, str, str, float | None]]


def hood(
    node_id: str, within: Within, *, depth: int, room: int, look: int, known: Collection[str]
) -> Hood | None:
    """A record and up to `room` others that are not known; None where it is not in the project.

    Known ones that are walked through are among the nodes, too; the relations are those that touch an unknown one.
    """
    asked = {"node": node_id, "room": room, "look": look, "limit": look + 1, "known": list(known)}
    rows = fetch(_statement(within, depth, bool(known)), {**asked, **walking(within)})
    if not rows:
        return None
    order, nodes, found, edges = rows[0]
    by_id = {row[0]: HoodNode(tuple(row[:6]), row[6], row[7], row[8] > look) for row in nodes}
    return Hood([by_id[one] for one in order], found, edges)


def _statement(within: Within, depth: int, has_known: bool) -> str:
    """`read2` has a pair for each node of the second hop, the node and what it offers; `found2` counts the hop."""
    hops = range(1, depth + 1)
    levels = ", ".join(f"[{hop}, read{hop}]" for hop in (0, *hops))
    return f"""
        MATCH (n:Record {{id: $node}}) WHERE n.project_id = $project
        WITH [n] AS reached, $room AS room, [[n, {_offers(within)}]] AS read0
        {"".join(_hop(within, hop, hop == depth, has_known) for hop in hops)}
        WITH *, {_ENDS if has_known else "reached AS new"}
        RETURN [n IN reached | n.id], COLLECT {{
            UNWIND [{levels}] AS level UNWIND level[1] AS one
            WITH level[0] AS hop, one[0] AS n, one[1] AS offers
            RETURN [{card_of("n")}, hop, COUNT {{ UNWIND offers[..$look] AS offer RETURN DISTINCT offer[0] }}, size(offers)]
        }}, [{", ".join(f"found{hop}" for hop in hops)}], {_edges(within, has_known)}"""


_ENDS = """[n IN reached WHERE NOT n.id IN $known] AS new, COLLECT {
            UNWIND $known AS id MATCH (m:Record {id: id}) WHERE m.project_id = $project RETURN m
        } AS old"""


def _edges(within: Within, has_known: bool) -> str:
    """Those among the new ones, by the way they run: a hub that thousands lead to is not read as a whole. Then those
    between a new one and a known one, whichever way."""
    counts = f"{counting(within)} AND {NEAR_ENOUGH}"
    among = f"""COLLECT {{
            UNWIND new AS n MATCH (n)-[r:{pattern_of(within)}]->(m:Record) WHERE {counts} AND m IN new
            RETURN [n.id, m.id, type(r), r.score]
        }}"""
    between = f"""COLLECT {{
            UNWIND new AS n MATCH (n)-[r:{pattern_of(within)}]-(m:Record) WHERE {counts} AND m IN old
            RETURN [startNode(r).id, endNode(r).id, type(r), r.score]
        }}"""
    return f"{among} + {between}" if has_known else among


def _hop(within: Within, hop: int, is_last: bool, has_known: bool) -> str:
    """Known nodes take no room, and no hop follows the last one, so it leaves them out."""
    kept = [f"read{before}" for before in range(hop)] + [f"found{before}" for before in range(1, hop)]
    # The first hop counts what it cannot take; where that left no room there is no other.
    offered = f"read{hop - 1}" if hop == 1 else f"CASE WHEN room > 0 THEN read{hop - 1} ELSE [] END"
    others = f"""
            UNWIND {offered} AS one UNWIND one[1][..$look] AS offer
            WITH offer[0] AS m, offer[1] AS key WHERE NOT m IN reached"""
    chosen = f"""COLLECT {{{others}{" AND NOT m.id IN $known" if has_known else ""}
            WITH m, min(key) AS key RETURN m ORDER BY key, m.id
        }} AS found"""
    front = "found[..room]"
    if has_known and not is_last:
        chosen += f", COLLECT {{{others} AND m.id IN $known RETURN DISTINCT m }} AS passed"
        front += " + passed"
    return f"""
        WITH reached, room, {", ".join(kept)}, {chosen}
        WITH reached + {front} AS reached, room - size(found[..room]) AS room, {", ".join(kept)}, size(found) AS found{hop},
            COLLECT {{ UNWIND {front} AS n RETURN [n, {_offers(within)}] }} AS read{hop}"""


def _offers(within: Within) -> str:
    return best(within, "[m, key]")

"""References between records as links. What a person unlinked is not linked again; what a person linked stays."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from database.transactions import transactional
from decisions.actions import link_successor
from decisions.models import Decision
from projects.models import Project
from records.actor import Actor, Channel
from records.errors import InvalidInput
from records.links import SYMMETRICAL, link, unlink
from records.models import Link, Relation, Revision
from transfer.adr.resolve import Edge
from transfer.importing.report import LinkLines

CHUNK = 50
WORDS = {"AMENDS": "amends", "DEPRECATES": "deprecates"}
Triple = tuple[str, str, str]


def link_records(
    edges: list[Edge],
    node_ids: Mapping[str, str],
    read: set[str],
    *,
    project: Project,
    actor: Actor,
    dry_run: bool,
) -> LinkLines:
    """`node_ids` by key of the records; `read` the keys whose documents were read now."""
    lines = LinkLines()
    wanted: dict[Triple, str] = {}
    for edge in edges:
        if edge.source in node_ids and edge.target in node_ids:
            relation = Relation.SUPERSEDES if edge.relation == "SUPERSEDES" else Relation.RELATES_TO
            wanted.setdefault(_triple(node_ids[edge.source], relation, node_ids[edge.target]), _note(edge))
    linked = {_triple(made.source, made.relation, made.target): made for made in _links(project)}
    lines.kept = sum(triple in linked for triple in wanted)
    missing = [triple for triple in wanted if triple not in linked]
    taken_back = _taken_back(missing)
    lines.said += [f"{' '.join(t)} was unlinked by a person: not linked again" for t in sorted(taken_back)]
    to_make = {triple: wanted[triple] for triple in missing if triple not in taken_back}
    ours = {node_ids[key] for key in read if key in node_ids}
    stale = [
        made
        for triple, made in linked.items()
        if triple not in wanted and _is_ours(made, actor) and {made.source, made.target} <= ours
    ]
    if dry_run:
        lines.made, lines.removed = len(to_make), len(stale)
        return lines
    items = iter(to_make.items())
    while chunk := list(islice(items, CHUNK)):
        made, refused = _make(chunk, actor)
        lines.made += made
        lines.said += refused
    for start in range(0, len(stale), CHUNK):
        lines.removed += _remove(stale[start : start + CHUNK], actor)
    return lines


def superseded_elsewhere(project: Project, actor: Actor, read: set[str]) -> set[str]:
    """Node ids that a document says are superseded which was read before and is not read now."""
    return {
        made.target
        for made in _links(project)
        if made.relation == Relation.SUPERSEDES and _is_ours(made, actor) and made.source not in read
    }


def _links(project: Project) -> list[Link]:
    return list(Link.objects.filter(project=project, relation__in=[Relation.SUPERSEDES, Relation.RELATES_TO]))


def _is_ours(made: Link, actor: Actor) -> bool:
    return made.source_kind == actor.source_kind and made.source_name == actor.name


def _triple(source: str, relation: str, target: str) -> Triple:
    if relation in SYMMETRICAL and source > target:
        source, target = target, source
    return source, str(relation), target


def _note(edge: Edge) -> str:
    written = "; ".join(edge.written)[:1000]
    word = WORDS.get(edge.relation)
    return f"{word}: {written}" if word else written


def _taken_back(triples: list[Triple]) -> set[Triple]:
    if not triples:
        return set()
    sources = sorted({source for source, _, _ in triples})
    found: set[Triple] = set()
    for start in range(0, len(sources), 500):
        acts = Revision.objects.filter(node_id__in=sources[start : start + 500], verb="unlink")
        for detail in acts.exclude(channel=Channel.IMPORT).values_list("detail", flat=True):
            if isinstance(detail, dict):
                found.add(_triple(str(detail["source"]), str(detail["relation"]), str(detail["target"])))
    return found & set(triples)


def _ends(node_ids: set[str]) -> dict[str, Decision]:
    keys = [int(node_id.partition("_")[2]) for node_id in node_ids]
    return {
        decision.node_id: decision
        for decision in Decision.objects.only("pk", "project_id").filter(pk__in=keys)
    }


@transactional
def _make(chunk: list[tuple[Triple, str]], actor: Actor) -> tuple[int, list[str]]:
    ends = _ends({end for (source, _, target), _ in chunk for end in (source, target)})
    made, refused = 0, []
    for (source, relation, target), note in chunk:
        try:
            if relation == Relation.SUPERSEDES:
                link_successor(actor=actor, decision=ends[target], by=ends[source], reason=note)
            else:
                link(ends[source], relation, ends[target], actor=actor, reason=note)
            made += 1
        except InvalidInput as error:
            refused.append(f"{source} {relation} {target}: {error}")
    return made, refused


@transactional
def _remove(links: list[Link], actor: Actor) -> int:
    ends = _ends({end for made in links for end in (made.source, made.target)})
    for made in links:
        unlink(
            made, ends[made.source], ends[made.target], actor=actor, reason="The documents no longer say so."
        )
    return len(links)

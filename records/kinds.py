"""The registry of kinds: how the shared floors (recall, graph, history, desk) know a record without its app."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol

from django.utils.translation import get_language

from records.counted import Counted
from records.models import Record

NODE_ID = re.compile(r"(?P<prefix>[a-z]{2,8})_(?P<key>[0-9]{1,10}|[0-9a-f]{32})", re.ASCII)


def _nothing(record: Record) -> dict[str, Any]:
    return {}


def _no_severity(record: Record) -> tuple[str, int]:
    return "", 0


def _no_changes(record: Record, new: bool) -> dict[str, Any]:
    return {}


def _nothing_follows(record: Record, names: Collection[str]) -> dict[str, Any]:
    return {}


def _leads_nowhere(record: Record) -> None:
    return None


class EdgesOf(Protocol):
    """(source, relation, target) of a kind's own foreign keys that touch any of the nodes: of each node at most
    `per_node`, in the order of the other end's id, records of the project only, hidden ones where asked for."""

    def __call__(
        self, node_ids: Sequence[str], *, project_id: int, per_node: int, hidden: bool
    ) -> list[tuple[str, str, str]]: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """One kind of record: there is one object of each, and caches are keyed by it.

    `summary_of` follows the title in the record vector; `body_of` is the whole text, cut into passages.
    `status_of` is its state in the world (None where the kind has none); `when` the column it is sorted by;
    `facts_of` the (label, text) pairs of a row; `select` the foreign keys read with it; `listed` the long columns
    that a row needs.
    `filterset` is the FilterSet of page, API, search and export (None: it is not searched).
    `outcome_badges` gives, by node id, (what followed, its level) for a set of records.
    `vector_of` gives a vector that came with the row and its model's name; `leads_to` the node whose LEADS_TO this
    record is (an outcome's).
    `headed` names the columns that the heading and `status_of` read, `status_column` the one it filters by; `edges_of`
    gives the relations that are foreign keys of the kind's own table (LEADS_TO).
    `repeats_are_duplicates` is false of events: the same alert again is another run.
    `archived_label` is what its archived records are called where that has a word of its own.
    `is_foreign` is true when a counter column was written by plain SQL; `absorb` answers the further column changes
    with which a plain-SQL write (`new`: the row too) is taken in.
    `severity_of` gives its severity and the points, 0 to 30, that this adds to the risk of one that waits;
    `doubts_of`, for the node ids of settled records and when each was last confirmed, what bad came of them since.
    `holds` is whether what the record says holds in the world (an accepted decision does, a rejected one does not);
    None where its kind or its state says neither.
    `sections` is the template part that shows what a record says (with `record`, and what `sections_of` gives beside it).
    `editable` names the columns that a person or agent may edit, that a restored version brings back, and of which a
    merge chooses. `follows` gives the columns that follow from those just changed (by name). `counted`: the votes or
    encounters that are counted on a record. `dependents` names the kinds
    whose records belong to one of this kind, each with its foreign key. `goes_with`: columns that mean nothing without
    another one, and are chosen with it.
    `pack_section` is the section of a context pack that its records belong to (None: they are told with others), and
    `unpacked` the long columns that no pack shows.
    """

    name: str
    prefix: str
    label: Any
    label_plural: Any
    model: type[Record]
    url_name: str
    list_url_name: str
    summary_of: Callable[[Any], str]
    body_of: Callable[[Any], str]
    graph_label: str | None
    when: str = "created_at"
    status_of: Callable[[Any], str | None] = lambda record: None
    facts_of: Callable[[Any], list[tuple[Any, str]]] = lambda record: []
    holds: Callable[[Any], bool | None] = lambda record: None
    outcome_badges: Callable[[list[Any]], dict[str, tuple[str, str]]] = lambda records: {}
    graph_properties: Callable[[Any], dict[str, Any]] = _nothing
    is_foreign: Callable[[Any], bool] = lambda record: False
    absorb: Callable[[Any, bool], dict[str, Any]] = _no_changes
    vector_of: Callable[[Any], tuple[Any, str | None] | None] = lambda record: None
    leads_to: Callable[[Any], str | None] = _leads_nowhere
    severity_of: Callable[[Any], tuple[str, int]] = _no_severity
    doubts_of: Callable[[Mapping[str, datetime]], dict[str, str]] | None = None
    edges_of: EdgesOf | None = None
    integer_key: bool = True
    repeats_are_duplicates: bool = True
    select: tuple[str, ...] = field(default=())
    listed: tuple[str, ...] = field(default=())
    filterset: Any = None
    headed: tuple[str, ...] = ("title", "status")
    status_column: str | None = None
    pack_section: str | None = None
    unpacked: tuple[str, ...] = ()
    sections: str = ""
    sections_of: Callable[[Any], dict[str, Any]] = _nothing
    editable: tuple[str, ...] = ()
    follows: Callable[[Any, Collection[str]], dict[str, Any]] = _nothing_follows
    counted: Counted | None = None
    dependents: tuple[tuple[str, str], ...] = ()
    archived_label: Any = None
    goes_with: Mapping[str, str] = field(default_factory=dict)

    def status_label_of(self, record: Any) -> str:
        """The status in the reader's language."""
        status = self.status_of(record) or ""
        return _labels(self.model, get_language()).get(status, status)

    def led_to(self, image: Mapping[str, Any] | None) -> str | None:
        """The node that a record led to when this was its image."""
        if image is None or self.leads_to is _leads_nowhere:
            return None
        columns = [column.attname for column in self.model._meta.concrete_fields if column.is_relation]
        return self.leads_to(self.model(**{name: image[name] for name in columns if name in image}))

    def node_id(self, pk: Any) -> str:
        return f"{self.prefix}_{pk}"


_by_name: dict[str, Kind] = {}
_by_prefix: dict[str, Kind] = {}


@lru_cache(maxsize=64)
def _labels(model: type[Record], language: str | None) -> dict[str, str]:
    """The words of a model's statuses or severities, once a language: a list asks for fifty of them."""
    columns = [column for column in model._meta.concrete_fields if column.name in ("status", "severity")]
    return {str(value): str(label) for column in columns for value, label in column.flatchoices}


def register(kind: Kind) -> Kind:
    """Called by each kind's app when Django is ready."""
    kind.model.prefix = kind.prefix
    _by_name[kind.name] = _by_prefix[kind.prefix] = kind
    return kind


def all_kinds() -> Iterator[Kind]:
    return iter(_by_name.values())


def graph_kinds() -> list[Kind]:
    return [kind for kind in _by_name.values() if kind.graph_label]


def kind_named(name: str) -> Kind:
    return _by_name[name]


def kind_of(record: Record) -> Kind:
    return _by_prefix[record.prefix]


def parse_node_id(text: str) -> tuple[Kind, Any] | None:
    """`dec_12` -> (decision kind, 12); None for anything that names no kind."""
    match = NODE_ID.fullmatch(text)
    kind = _by_prefix.get(match["prefix"]) if match else None
    if match is None or kind is None or kind.integer_key != (len(match["key"]) < 32):
        return None
    if not kind.integer_key:
        return kind, match["key"]
    key = int(match["key"])
    return (kind, key) if str(key) == match["key"] and key < 2**31 else None


def group_by_kind(node_ids: Iterable[str]) -> dict[str, list[Any]]:
    """Keys by kind name; ids that name no kind are left out."""
    grouped: dict[str, list[Any]] = {}
    for node_id in node_ids:
        parsed = parse_node_id(node_id)
        if parsed:
            grouped.setdefault(parsed[0].name, []).append(parsed[1])
    return grouped

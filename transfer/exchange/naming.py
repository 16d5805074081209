"""Which id each record of a file has here: its own where that is free. Settled for all before the first is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import F

from database.columns import new_hex_id
from database.transactions import transactional
from projects.models import Project
from records.arrivals import greatest_key, taken_keys
from records.kinds import Kind, parse_node_id
from transfer.adopt.keys import NewKeys
from transfer.exchange.checking import Contents
from transfer.exchange.renaming import Renaming
from transfer.models import Arrival

CHUNK = 500
SETTLED = "settled"  # the record itself is still to come


class Names:
    """Kept in the ledger, so that a run that goes on gives the same ids as the one that was stopped."""

    def __init__(self, origin: str, contents: Contents, project: Project, *, is_own: bool) -> None:
        self.origin, self._contents, self._project, self._is_own = origin, contents, project, is_own
        self._new_keys: dict[str, NewKeys] = {}
        by_kind: dict[str, list[str]] = {}
        for node_id in sorted(contents.nodes):
            by_kind.setdefault(node_id.partition("_")[0], []).append(node_id)
        for node_ids in by_kind.values():
            for some in _chunks(node_ids):
                self._settle(some)
        changed = Arrival.objects.filter(origin=origin).exclude(node_id=F("source_key"))
        self.renaming = Renaming(dict(changed.values_list("source_key", "node_id")))

    @transactional
    def _settle(self, node_ids: Sequence[str]) -> None:
        parsed = {node_id: parse_node_id(node_id) for node_id in node_ids}
        keys = {node_id: found[1] for node_id, found in parsed.items() if found is not None}
        kind = next(found[0] for found in parsed.values() if found is not None)
        came = dict(
            Arrival.objects.filter(origin=self.origin, kind=kind.name, source_key__in=keys).values_list(
                "source_key", "digest"
            )
        )
        open_ = {node_id for node_id in keys if came.get(node_id, SETTLED) == SETTLED}
        if self._is_own:
            rows = kind.model.objects.filter(pk__in=keys.values(), project=self._project)
            open_ -= {kind.node_id(key) for key in rows.values_list("pk", flat=True)} - came.keys()
        new = [node_id for node_id in node_ids if node_id in open_ and node_id not in came]
        taken = taken_keys(kind, [keys[node_id] for node_id in new])
        Arrival.objects.bulk_create(
            [
                Arrival(
                    origin=self.origin,
                    kind=kind.name,
                    source_key=node_id,
                    node_id=kind.node_id(self._new_key(kind) if keys[node_id] in taken else keys[node_id]),
                    batch=self._contents.export,
                    digest=SETTLED,
                )
                for node_id in new
            ]
        )

    def awaited(self, kind: Kind, node_ids: Sequence[str]) -> dict[str, Any]:
        """The keys here of those that are still to come, by their ids in the file."""
        rows = Arrival.objects.filter(
            origin=self.origin, kind=kind.name, source_key__in=node_ids, digest=SETTLED
        )
        found = {
            source: parse_node_id(node_id) for source, node_id in rows.values_list("source_key", "node_id")
        }
        return {source: parsed[1] for source, parsed in found.items() if parsed is not None}

    def came(self, kind: Kind, node_ids: Sequence[str]) -> None:
        """They are written; call in the transaction that does it. From now on they are this file's."""
        Arrival.objects.filter(origin=self.origin, kind=kind.name, source_key__in=node_ids).update(
            digest="", batch=self._contents.export
        )

    def _new_key(self, kind: Kind) -> Any:
        if not kind.integer_key:
            return new_hex_id()
        if kind.name not in self._new_keys:
            settled = Arrival.objects.filter(kind=kind.name, digest=SETTLED).values_list("node_id", flat=True)
            greatest = [int(node_id.partition("_")[2]) for node_id in settled.iterator()]
            self._new_keys[kind.name] = NewKeys(
                self._contents.greatest.get(kind.name, 0), greatest_key(kind), *greatest
            )
        return self._new_keys[kind.name]()


def _chunks(node_ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(node_ids), CHUNK):
        yield node_ids[start : start + CHUNK]

"""Writes a batch of rows as records: all of it in one transaction, with the ledger that says what came already."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from django.db import DatabaseError, OperationalError

from database.transactions import transactional
from patterns.actions import begin_evidence
from projects.models import Project
from records.actor import Actor, Channel, SourceKind
from records.arrivals import bring_in, first_revision, holding_secrets, taken_keys
from records.checks import validate
from records.errors import InvalidInput
from records.images import plain
from records.models import Record, Revision
from transfer.adopt.cells import INT_MOST, Cells, LeftOut, Problem
from transfer.adopt.kinds import Plan
from transfer.adopt.projects import Projects
from transfer.adopt.report import Report
from transfer.models import Arrival
from work_sessions.models import WorkSession

log = logging.getLogger("memory_desk.adopt")
ACTOR = Actor.command("adopt", channel=Channel.IMPORT, source_kind=SourceKind.IMPORT)


@dataclass
class Item:
    """One row: `key` names it in the source, `wanted` is the key that its record should have here (None: any)."""

    key: str
    row: Mapping[str, Any]
    wanted: Any = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def digest(self) -> str:
        said = {name: _said(value) for name, value in self.row.items() if value is not None}
        text = json.dumps(said, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii", "replace")).hexdigest()


@dataclass
class _Batch:
    """What one transaction did; told to the report only once it is committed."""

    problems: list[Problem] = field(default_factory=list)
    adopted: int = 0
    already: int = 0
    left_out: int = 0
    renamed: int = 0
    changed_there: int = 0


class Writer:
    """Writes batch by batch; `keep` is called before each, so that nobody else begins meanwhile."""

    def __init__(
        self, origin: str, projects: Projects, report: Report, zone: tzinfo, source_name: str, keep: Callable[[], None],
    ) -> None:  # fmt: skip
        self.origin, self.projects, self.report, self.zone = origin, projects, report, zone
        self._source_name = source_name
        self.keep = keep

    def write(
        self,
        plan: Plan,
        items: Sequence[Item],
        new_key: Callable[[], Any],
        types: Mapping[str, str] | None = None,
    ) -> None:
        """All of these; where the database refuses one, the others are written without it.

        `new_key` gives a key beyond all that the source and the desk use, for a row whose own is taken.
        """
        self.keep()
        for item in items:  # in transactions of their own: a batch that is refused takes no project back
            if "project" not in item.extra:
                self._project(plan, Cells(plan.table, item.key, item.row, self.zone))
        try:
            batch = self._write(plan, items, new_key, types or {})
        except OperationalError:  # the database is away: no row's fault
            raise
        except (DatabaseError, InvalidInput) as error:
            if len(items) > 1:
                half = len(items) // 2
                self.write(plan, items[:half], new_key, types)
                self.write(plan, items[half:], new_key, types)
                return
            log.info("%s %s is refused", plan.table, items[0].key, exc_info=True)
            batch = _Batch(left_out=1)
            batch.problems.append(Problem(plan.table, items[0].key, "", f"left out: {error}"))
        line = self.report.line(plan.table)
        line.adopted += batch.adopted
        line.already += batch.already
        line.left_out += batch.left_out
        line.renamed += batch.renamed
        line.changed_there += batch.changed_there
        self.report.tell(batch.problems)

    @transactional
    def _write(
        self, plan: Plan, items: Sequence[Item], new_key: Callable[[], Any], types: Mapping[str, str]
    ) -> _Batch:
        batch = _Batch()
        fresh = self._not_here_yet(plan, items, batch)
        made: list[tuple[Item, Record, Cells]] = []
        taken = taken_keys(plan.kind, {item.wanted for item in fresh if item.wanted is not None})
        sessions = _Sessions(fresh) if plan.kind.model is WorkSession else None
        for item in fresh:
            cells = Cells(plan.table, item.key, item.row, self.zone, types)
            try:
                record = self._record(plan, item, cells)
                if sessions is not None:
                    sessions.give_a_free_name(record, cells)
                validate(record)
            except (LeftOut, InvalidInput) as error:
                cells.tell("", f"left out: {error}")
                batch.left_out += 1
            else:
                if item.wanted is None or item.wanted in taken:
                    record.pk = new_key()
                    if item.wanted is None and plan.reads:
                        cells.tell("id", f"is none that a record here can have: it is {record.node_id}")
                    elif item.wanted is not None:
                        batch.renamed += 1
                        cells.tell(
                            "id",
                            f"{plan.kind.node_id(item.wanted)} is taken here: it is {record.node_id}",
                            item.key,
                        )
                else:
                    record.pk = item.wanted
                    taken.add(item.wanted)
                made.append((item, record, cells))
            batch.problems += cells.problems
        self._insert(plan, made)
        batch.adopted = len(made)
        return batch

    def _not_here_yet(self, plan: Plan, items: Sequence[Item], batch: _Batch) -> list[Item]:
        here = dict(
            Arrival.objects.filter(
                origin=self.origin,
                kind=plan.kind.name,
                source_key__in=[source_key(item.key) for item in items],
            ).values_list("source_key", "digest")
        )
        fresh: dict[str, Item] = {}
        for item in items:
            key = source_key(item.key)
            if key in here:
                batch.already += 1
                batch.changed_there += here[key] != item.digest()
            elif key in fresh:
                batch.left_out += 1
                batch.problems.append(
                    Problem(plan.table, item.key, "id", "left out: another row has the same id")
                )
            else:
                fresh[key] = item
        return list(fresh.values())

    def _record(self, plan: Plan, item: Item, cells: Cells) -> Record:
        values = {**plan.values_of(cells), **item.extra}
        project = values.pop("project", None) or self._project(plan, cells)
        return plan.kind.model(
            **values,
            project=project,
            source_kind=ACTOR.source_kind,
            source_name=ACTOR.name,
            trust=ACTOR.trust,
        )

    def _project(self, plan: Plan, cells: Cells) -> Project | None:
        written = cells.row.get("project_id")
        number: int | None = None
        if written is not None:
            try:
                number = int(written)
            except (TypeError, ValueError):
                cells.tell("project_id", f"is no number ({str(written)[:40]})", written)
        if number is not None and not -INT_MOST <= number <= 2**32:
            cells.tell("project_id", f"is no number that a project has ({number})", written)
            number = None
        if (
            number is None
            and plan.kind.model._meta.get_field("project").null
            and not self.projects.is_mapped("none")
        ):
            return None
        return self.projects.of(number)

    def _insert(self, plan: Plan, made: Sequence[tuple[Item, Record, Cells]]) -> None:
        if not made:
            return
        by_key = {record.pk: (item, cells) for item, record, cells in made}

        def tell(record: Any) -> Revision:
            item, cells = by_key[record.pk]
            detail = {"adopted": {"from": self._source_name, "table": plan.table, "id": item.key}}
            if cells.as_written:
                detail["adopted"]["as_written"] = cells.as_written  # type: ignore[assignment]
            return first_revision(
                record, actor=ACTOR, reason=f"Adopted from {plan.table} {item.key}", detail=detail
            )

        records = bring_in(plan.kind, [record for _, record, _ in made], tell=tell)
        self.report.secrets.update(holding_secrets(records))
        if plan.kind.name == "pattern":
            begin_evidence(records, actor=ACTOR)
        Arrival.objects.bulk_create(
            [
                Arrival(
                    origin=self.origin,
                    kind=plan.kind.name,
                    source_key=source_key(item.key),
                    node_id=record.node_id,
                    digest=item.digest(),
                )
                for item, record, _ in made
            ]
        )


class _Sessions:
    """Names of sessions are unique here, whatever project they are in; spaces at the end tell none apart."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._asked = {str(_said(item.row.get("session_id")) or "") for item in items}
        found = WorkSession.objects.filter(session_id__in=self._asked).values_list("session_id", flat=True)
        self._taken = {name.rstrip(" ") for name in found}

    def give_a_free_name(self, record: Any, cells: Cells) -> None:
        name = record.session_id.rstrip(" ")
        if self._is_taken(name):
            number = 2
            while self._is_taken(f"{name[:240]}#{number}"):
                number += 1
            cells.tell(
                "session_id", f"{name[:60]!r} is taken: it is {name[:60]}#{number} here", record.session_id
            )
            record.session_id = name = f"{name[:240]}#{number}"
        self._taken.add(name)

    def _is_taken(self, name: str) -> bool:
        if name in self._taken:
            return True
        return name not in self._asked and WorkSession.objects.filter(session_id=name).exists()


def source_key(written: str) -> str:
    """The key as the ledger holds it: itself where it is short and plain."""
    if len(written) <= 60 and written.isascii() and written.isprintable():
        return written
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def _said(value: Any) -> Any:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else plain(value)

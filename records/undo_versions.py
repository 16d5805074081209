"""The versions of an act, taken back: each record gets the columns again that the act changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.access import Capability
from records import verbs
from records.actor import Actor
from records.changes import Outcome
from records.errors import Refused, VerbError
from records.guard import writing
from records.images import image_of
from records.kinds import Kind, kind_named
from records.models import Revision
from records.queries import images_before, records_by_node_id
from records.undo_step import UNDO, Step, step_of

CHUNK = 500
# Who may not review may not take a review back either.
REVIEWED = {"review_state", "prior_confidence", "merged_into"}
CREATED = {"create"}


@dataclass
class Change:
    """What one act made of one record: the row of its first version, and how it was after its last one."""

    first: Revision
    last: Revision
    counters: dict[str, float] = field(default_factory=dict)  # by how much the act moved them

    @property
    def node_id(self) -> str:
        return self.first.node_id

    @property
    def step(self) -> Step:
        return step_of(self.first)


def changes_of(rows: Iterable[Revision]) -> list[Change]:
    """By record, from rows with versions, oldest first."""
    found: dict[str, Change] = {}
    for row in rows:
        change = found.setdefault(row.node_id, Change(row, row))
        change.last = row
        for name, (before, after) in (row.detail or {}).get("counters", {}).items():
            change.counters[name] = change.counters.get(name, 0) + (after or 0) - (before or 0)
    return list(found.values())


def undo_changes(
    changes: Sequence[Change], *, actor: Actor, reason: str, keep_later: bool = False
) -> Outcome:
    """Give each record its columns back. With `keep_later`, a column that was changed since stays as it is, and is
    reported; without, so does its whole record."""
    outcome = Outcome()
    by_kind: dict[str, list[Change]] = {}
    for change in changes:
        by_kind.setdefault(change.first.kind, []).append(change)
    for name, of_kind in by_kind.items():
        for start in range(0, len(of_kind), CHUNK):
            part = of_kind[start : start + CHUNK]
            outcome.add(_undo_chunk(kind_named(name), part, actor, reason, keep_later))
    return outcome


@transactional
def _undo_chunk(
    kind: Kind, changes: Sequence[Change], actor: Actor, reason: str, keep_later: bool
) -> Outcome:
    by_node = {change.node_id: change for change in changes}
    images = images_before([change.first for change in changes])
    records = records_by_node_id(by_node, brief=True)
    outcome = Outcome()
    befores = {change.node_id: images.get(change.first.pk) for change in changes}
    back = _Back(kind, by_node, befores, actor, keep_later)
    for node_id in by_node.keys() - records.keys():
        outcome.refused.append((node_id, Refused(_("It is not there any more."), node_id)))
    outcome.add(
        verbs.update(
            list(records.values()),
            back.columns,
            actor=actor,
            verb=UNDO,
            reason=reason,
            partial=True,
            detail=lambda record: by_node[record.node_id].step.said(),
            merged_too=True,
        )
    )
    outcome.refused += back.kept
    _flip_counted(kind, [by_node[record.node_id] for record in outcome.updated])
    return outcome


class _Back:
    """Answers, for a record as locked, the columns that take the act back."""

    def __init__(
        self,
        kind: Kind,
        changes: Mapping[str, Change],
        befores: Mapping[str, dict[str, Any] | None],
        actor: Actor,
        keep_later: bool,
    ) -> None:
        self.kind, self.changes, self.befores = kind, changes, befores
        self.actor, self.keep_later = actor, keep_later
        self.kept: list[tuple[str, VerbError]] = []
        self._there = self._references()

    def columns(self, record: Any) -> dict[str, Any]:
        change, before = self.changes[record.node_id], self.befores[record.node_id]
        after, now = change.last.after, image_of(record)
        if after is None:
            raise Refused(_("What it said then is not kept any more."), record.node_id)
        if before is None:
            return self._uncreated(record, change, after, now)
        names = [name for name in after if name in now and before.get(name) != after[name]]
        self._require_review(record, names)
        if all(now[name] == before.get(name) for name in names) and not self._moved_alone(change, names):
            return {}
        later = [name for name in names if now[name] not in (after[name], before.get(name))]
        if later:
            self._tell_later(record, later)
        return {
            **{name: self._value(name, before.get(name)) for name in names if name not in later},
            **{name: max(0, (getattr(record, name) or 0) - moved) for name, moved in change.counters.items()},
        }

    def _moved_alone(self, change: Change, names: Sequence[str]) -> bool:
        """Whether the act is one of counters alone (a judgement that says what the prior said) and stands: no column tells
        that it was taken back already, its history does."""
        if names or not change.counters:
            return False
        step = change.step
        undone = Revision.objects.filter(
            node_id=change.node_id, verb=UNDO, version__isnull=False, pk__gt=change.last.pk
        ).order_by("-id")
        last = next((row.detail for row in undone if row.detail and row.detail.get("of") == step.of), None)
        return last is None or last.get("back") != step.back

    def _uncreated(
        self, record: Any, change: Change, after: Mapping[str, Any], now: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A record that the act made is put away; it is as it was made, or others have worked on it."""
        if change.first.verb not in CREATED:
            raise Refused(_("What it was before is not kept."), record.node_id)
        if record.archived_at is not None:
            return {}
        if later := [name for name in now if now[name] != after.get(name)]:
            raise self._changed_since(record, later)
        return {"archived_at": timezone.now()}

    def _tell_later(self, record: Any, names: Sequence[str]) -> None:
        refusal = self._changed_since(record, names)
        if not self.keep_later:
            raise refusal
        self.kept.append((record.node_id, refusal))

    def _changed_since(self, record: Any, names: Sequence[str]) -> Refused:
        columns = {column.attname: column for column in record._meta.concrete_fields}
        said = ", ".join(str(columns[name].verbose_name) for name in names)
        return Refused(_("Changed again since: %s. It stays as it is.") % said, record.node_id)

    def _require_review(self, record: Any, names: Iterable[str]) -> None:
        if REVIEWED.intersection(names):
            self.actor.require(record.project_id, Capability.REVIEW)

    def _value(self, name: str, plain: Any) -> Any:
        """A column's value out of an image; of a row that is gone, none."""
        column = self.kind.model._meta.get_field(name)
        assert isinstance(column, models.Field)
        if not column.is_relation:
            return column.to_python(plain)
        if plain in self._there.get(name, set()):
            return plain
        if not column.null:
            raise Refused(_("What it belonged to is not there any more."))
        return None

    def _references(self) -> dict[str, set[Any]]:
        """Which of the rows that the images refer to are still there: one query a foreign key."""
        there: dict[str, set[Any]] = {}
        images = [image for image in self.befores.values() if image]
        for column in self.kind.model.versioned_fields():
            if not column.is_relation or column.related_model is None:
                continue
            keys = {image[column.attname] for image in images if image.get(column.attname) is not None}
            if keys:
                rows = column.related_model._default_manager.filter(pk__in=keys)  # type: ignore[union-attr]
                there[column.attname] = set(rows.values_list("pk", flat=True))
        return there


def _flip_counted(kind: Kind, changes: Sequence[Change]) -> None:
    """The step that such an act left in the log of a record (a person's own confidence) is taken back with it."""
    if kind.counted is None:
        return
    for change in changes:
        step = change.step
        if step.verb in CREATED or not step.of:
            continue
        rows = kind.counted.of_act(step.of).filter(
            **{f"{kind.counted.parent}_id": change.node_id.partition("_")[2]}
        )
        with writing():
            rows.update(taken_back_at=timezone.now() if step.back else None)

"""What a merge would make of several records, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from records.images import plain
from records.kinds import Kind, kind_named
from records.merging import united_tags
from records.models import Link
from records.pages.history import as_text, diff_of
from records.pages.rows import Row, row_of


@dataclass
class Choice:
    """One wording of a field, and the records that have it. `diff` leads to it from the survivor's words."""

    node_id: str
    node_ids: list[str]
    text: str
    diff: SafeString | None
    chosen: bool


@dataclass
class FieldRow:
    name: str
    label: str
    choices: list[Choice]
    errors: list[str] = field(default_factory=list)


@dataclass
class Preview:
    """`fields` differ; `same` are the labels of those that do not. `kept`: (what, how many) of all of them together."""

    survivor: Row
    others: list[Row]
    fields: list[FieldRow]
    same: list[str]
    tags: list[str]
    kept: list[tuple[str, int]]

    @property
    def rows(self) -> list[Row]:
        return [self.survivor, *self.others]


def preview_of(
    kind: Kind, records: Sequence[Any], choices: Mapping[str, str], errors: Mapping[str, Sequence[str]]
) -> Preview:
    """The survivor is the first of the records. `choices` as the form has them, by column."""
    fields, same = [], []
    for name in kind.editable:
        if name == "tags" or name in kind.goes_with:
            continue
        row = _field_row(kind, name, records, choices.get(name))
        row.errors = [*errors.get(name, [])]
        if len(row.choices) > 1:
            fields.append(row)
        elif row.choices[0].text:
            same.append(row.label)
    rows = [row_of(record) for record in records]
    return Preview(rows[0], rows[1:], fields, same, united_tags(records) or [], _kept(kind, records))


def _field_row(kind: Kind, name: str, records: Sequence[Any], wanted: str | None) -> FieldRow:
    column = kind.model._meta.get_field(name)
    ours = as_text(getattr(records[0], name))
    wordings: dict[str, Choice] = {}
    for record in records:
        key = repr(plain(getattr(record, name)))
        if key in wordings:
            wordings[key].node_ids.append(record.node_id)
            continue
        text = as_text(getattr(record, name))
        diff = diff_of(ours, text) if wordings and ours and text else None
        wordings[key] = Choice(record.node_id, [record.node_id], text, diff, False)
    found = list(wordings.values())
    # Words are better than none: the first record that says anything, where nobody has chosen yet.
    first = next((choice for choice in found if choice.text), found[0])
    chosen = next((choice for choice in found if wanted in choice.node_ids), first)
    chosen.chosen = True
    return FieldRow(name, capfirst(str(getattr(column, "verbose_name", name))), found)


def _kept(kind: Kind, records: Sequence[Any]) -> list[tuple[str, int]]:
    """What the survivor keeps of all of them, where there is any: counts, what belongs to them, links."""
    kept = []
    for name in kind.counted.counters if kind.counted else []:
        column = kind.model._meta.get_field(name)
        total = sum(getattr(record, name) for record in records)
        kept.append((str(getattr(column, "verbose_name", name)), total))
    for other, column_name in kind.dependents:
        dependent = kind_named(other)
        keys = [record.pk for record in records]
        total = dependent.model.objects.filter(**{f"{column_name}__in": keys}).count()
        kept.append((str(dependent.label_plural), total))
    ids = [record.node_id for record in records]
    between = Q(source__in=ids, target__in=ids)
    links = Link.objects.filter(Q(source__in=ids) | Q(target__in=ids)).exclude(between)
    kept.append((_("links"), links.aggregate(number=Count("id"))["number"]))
    return [(label, total) for label, total in kept if total]

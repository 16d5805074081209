"""View-models of a record: what a row, a link and a header show, the same for every kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from records.kinds import Kind, kind_of, parse_node_id
from records.models import Link, Record, Relation
from records.validation import tag_words


@dataclass
class Row:
    node_id: str
    kind: str
    kind_label: str
    title: str
    url: str
    when: datetime | None
    meta: list[tuple[str, str]]
    status: str | None
    status_label: str
    review_state: str
    badges: list[tuple[str, str]]
    record: Any = field(repr=False)
    why: str = ""
    excerpt: Sequence[tuple[str, bool]] = ()  # (text, whether it was asked for)

    @property
    def tags(self) -> list[dict[str, str]]:
        return tag_links(self.record)


def record_url(record: Record) -> str:
    """The record's page, in its project; by the node's own address where it has none."""
    if record.project_id is None:
        return reverse("records:node", args=[record.node_id])
    return page_url(kind_of(record), record.project.slug, record.pk)


def page_url(kind: Kind, slug: str, key: Any) -> str:
    """The address of a record's page in its project."""
    before, after = _around_key(kind.url_name, slug, kind.integer_key)
    return f"{before}{key}{after}"


@lru_cache(maxsize=1024)
def _around_key(url_name: str, slug: str, integer_key: bool) -> tuple[str, str]:
    """The address of a project's records of a kind, before and after the key: a list asks for fifty."""
    key = "0" if integer_key else "0" * 32
    before, _key, after = reverse(url_name, args=[slug, key]).rpartition(f"/{key}/")
    return f"{before}/", f"/{after}"


def row_of(record: Any, why: str = "") -> Row:
    kind = kind_of(record)
    status = kind.status_of(record)
    by = [(_("by"), record.source_name)] if record.source_name else []
    return Row(
        node_id=record.node_id,
        kind=kind.name,
        kind_label=str(kind.label),
        title=title_of(record),
        url=record_url(record),
        when=getattr(record, kind.when),
        meta=[*by, *kind.facts_of(record)],
        status=status,
        status_label=kind.status_label_of(record) if status else "",
        review_state=record.review_state,
        badges=hidden_badges(record),
        record=record,
        why=why,
    )


def title_of(record: Any) -> str:
    """Its heading; its id where plain SQL wrote a blank one, since a link needs words."""
    return record.heading.strip() or record.node_id


def hidden_badges(record: Record) -> list[tuple[str, str]]:
    badges = []
    if record.archived_at is not None:
        badges.append((str(kind_of(record).archived_label or _("archived")), "mute"))
    if record.merged_into is not None:
        badges.append((_("merged into %s") % record.merged_into, "mute"))
    return badges


def session_url(slug: str, name: str) -> str:
    """The page of the session that agents call so; "" for none."""
    return f"{_list_url('work_sessions:by_session_id', slug)}?{urlencode({'id': name})}" if name else ""


def run_url(name: str) -> str:
    """The page of the run; "" for none, and where what an agent calls its run can be no record's name."""
    return reverse("records:node", args=[name]) if parse_node_id(name) else ""


def places_of(slug: str, session: str, run: str) -> list[tuple[str, str, str]]:
    """(label, name, address) of the session and the run that something was said in."""
    places = [
        (_("in session"), session, session_url(slug, session)), (_("in run"), run, run_url(run))
    ]  # fmt: skip
    return [place for place in places if place[1]]


@lru_cache(maxsize=1024)
def _list_url(url_name: str, slug: str) -> str:
    return reverse(url_name, args=[slug])


def tag_links(record: Record) -> list[dict[str, str]]:
    if not record.project_id or not record.tags:
        return []
    base = _list_url(kind_of(record).list_url_name, record.project.slug)
    return [{"name": tag, "url": f"{base}?{urlencode({'tag': tag})}"} for tag in tag_words(record.tags)]


@dataclass
class LinkRow:
    """One relation as seen from one of its ends, in words."""

    relation: str
    relation_key: str
    node_id: str
    title: str
    url: str
    kind: str
    status: str | None
    review_state: str
    note: str | None
    unlink_url: str
    record: Any = field(repr=False, default=None)


def link_rows(node_id: str, links: Sequence[Link], records: dict[str, Any], slug: str) -> list[LinkRow]:
    """The links of a node, worded from its side; ends that are gone or hidden from these eyes are left out."""
    rows = []
    for link in links:
        outward = link.source == node_id
        other = records.get(link.target if outward else link.source)
        if other is None:
            continue
        relation = Relation(link.relation)
        kind = kind_of(other)
        rows.append(
            LinkRow(
                relation=str(relation.label if outward else reversed_label(relation)),
                relation_key=relation.value,
                node_id=other.node_id,
                title=title_of(other),
                url=record_url(other),
                kind=kind.name,
                status=kind.status_of(other),
                review_state=other.review_state,
                note=link.note,
                unlink_url=reverse("records:unlink", args=[slug, node_id, link.pk]),
                record=other,
            )
        )
    return rows


def reversed_label(relation: Relation) -> str:
    """The relation said from its target's side."""
    if relation == Relation.SUPERSEDES:
        return _("superseded by")
    if relation == Relation.DUPLICATE_OF:
        return _("duplicated by")
    return str(relation.label)


def rows_of(records: Iterable[Any]) -> list[Row]:
    return [row_of(record) for record in records]

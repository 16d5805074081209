"""View-models of the radius page: what it lists, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from curation.radius.queries import (
    COPY,
    FOLLOWED,
    MERGED,
    OF_A_DECISION,
    OF_A_RUN,
    SUCCESSOR,
    TOUCHED,
    Radius,
    Reader,
)
from records.pages.history import VERBS
from records.pages.rows import Row, row_of, run_url, session_url


@dataclass
class RadiusRow:
    """One record of the radius: `row` is None where it is gone. `chosen` is what a quarantine takes unless unticked."""

    node_id: str
    how: str
    since: datetime
    row: Row | None
    chosen: bool
    via: str = ""

    @property
    def can_be_chosen(self) -> bool:
        return self.row is not None and self.row.record.is_active


@dataclass
class ReaderRow:
    agent: str
    session: str
    session_url: str
    run: str
    run_url: str
    radius_url: str
    times: int
    records: int
    first: datetime
    last: datetime


def written_rows(radius: Radius) -> list[RadiusRow]:
    return [
        RadiusRow(
            each.node_id,
            _verbs(each.verbs) if each.node_id not in radius.unlogged else _("written by SQL in its name"),
            each.since,
            _row(radius, each.node_id),
            each.how != TOUCHED,
        )
        for each in radius.written
    ]


def _verbs(verbs: tuple[str, ...]) -> str:
    return ", ".join(str(VERBS.get(verb, verb)) for verb in verbs)


def _row(radius: Radius, node_id: str) -> Row | None:
    record: Any = radius.records.get(node_id)
    return row_of(record) if record is not None else None


def derived_rows(radius: Radius) -> list[RadiusRow]:
    return [
        RadiusRow(
            each.node_id, _how(each.how), each.since, _row(radius, each.node_id), each.how in FOLLOWED, each.via
        )
        for each in radius.derived
    ]  # fmt: skip


def _how(how: str) -> str:
    return {
        MERGED: _("has taken in"),
        COPY: _("says the same as"),
        SUCCESSOR: _("supersedes"),
        OF_A_DECISION: _("is an outcome of"),
        OF_A_RUN: _("sums up"),
    }.get(how, _("was superseded by"))


def reader_rows(radius: Radius, slug: str) -> list[ReaderRow]:
    return [_reader(reader, slug) for reader in radius.readers]


def _reader(reader: Reader, slug: str) -> ReaderRow:
    asked = next(
        (
            {name: value}
            for name, value in (("run", reader.run), ("session", reader.session), ("agent", reader.agent))
            if value
        ),
        None,
    )
    return ReaderRow(
        agent=reader.agent,
        session=reader.session,
        session_url=session_url(slug, reader.session),
        run=reader.run,
        run_url=run_url(reader.run),
        radius_url=f"{reverse('radius:page', args=[slug])}?{urlencode(asked)}" if asked else "",
        times=reader.times,
        records=len(reader.records),
        first=reader.first,
        last=reader.last,
    )

"""A project as lines: everything of it as at one moment, some rows at a time."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, models
from django.utils import timezone

from decisions.kind import DECISION, OUTCOME
from patterns.kind import PATTERN
from patterns.models import Evidence
from pitfalls.kind import PITFALL
from pitfalls.models import Encounter
from projects.models import Project, User
from records.kinds import Kind
from records.models import Erasure, Link, ProjectionMark, Read, Revision
from runs.kind import MEMORY, RUN
from transfer.exchange.columns import said
from transfer.exchange.lines import FORMAT, VERSION, FileProblem, Line, Sums, as_text
from transfer.models import Place
from work_sessions.kind import SESSION

ROWS_A_PAGE = 200
DESK = "this desk"
# In an order in which what is named has come before.
ORDER: tuple[Kind, ...] = (SESSION, RUN, DECISION, OUTCOME, PATTERN, PITFALL, MEMORY)
Say = Callable[[str], None]


def desk_name() -> str:
    """What this desk is called in files: given once, kept in its database."""
    place, _ = Place.objects.get_or_create(name=DESK, defaults={"reached": uuid.uuid4().hex})
    return place.reached


def write_project(project: Project, path: Path, *, reads: bool, say: Say = lambda line: None) -> Sums:
    """The whole project into a file, which gets its name once it is whole."""
    desk = desk_name()
    partial = path.with_name(f"{path.name}.partial")
    sums = Sums()
    project = Project.objects.get(pk=project.pk)
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file, as_at_one_moment():
            file.write(as_text(_header(project, desk)) + "\n")
            for line in project_lines(project, reads=reads, say=say):
                sums.add(line)
                file.write(as_text(line) + "\n")
            file.write(as_text(sums.end_line()) + "\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise FileProblem(f"{error.filename or path}: {error.strerror}. Nothing was kept.") from error
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return sums


def project_sums(project: Project, *, reads: bool = True) -> Sums:
    """What an export of the project would say at its end."""
    sums = Sums()
    with as_at_one_moment():
        for line in project_lines(project, reads=reads):
            sums.add(line)
    return sums


def _header(project: Project, desk: str) -> Line:
    return {
        "type": "header",
        "format": FORMAT,
        "version": VERSION,
        "program": settings.VERSION,
        "made_at": timezone.now().isoformat(),
        "desk": desk,
        "export": uuid.uuid4().hex,
        "project": {
            "id": project.pk, "name": project.name, "slug": project.slug, "created_at": project.created_at.isoformat(),
        },
    }  # fmt: skip


@contextmanager
def as_at_one_moment() -> Iterator[None]:
    """Everything read inside is of one snapshot, and nobody has to wait for it."""
    if connection.in_atomic_block:
        yield
        return
    connection.ensure_connection()
    with connection.cursor() as cursor:
        if connection.vendor == "mysql":
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        else:
            cursor.execute("BEGIN DEFERRED")  # not Django's IMMEDIATE, which keeps writers away
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def project_lines(project: Project, *, reads: bool, say: Say = lambda line: None) -> Iterator[Line]:
    """All lines but the header and the end. What cannot leave without another project is said."""
    people = dict(User.objects.values_list("pk", "username"))
    for kind in ORDER:
        yield from _records(kind, project, people, say)
    for row in _pages(Evidence.objects.filter(pattern__project=project)):
        yield {"type": "evidence", "of": PATTERN.node_id(row.pattern_id), "fields": said(row, people)}
    for row in _pages(Encounter.objects.filter(pitfall__project=project)):
        yield {"type": "encounter", "of": PITFALL.node_id(row.pitfall_id), "fields": said(row, people)}
    for row in _pages(ProjectionMark.objects.filter(project_id=project.pk, gone=True)):
        yield {"type": "gone", "id": row.node_id}
    erased = ProjectionMark.objects.filter(project_id=project.pk, erased=True).values("node_id")
    for row in _pages(Erasure.objects.filter(project=project, node_id__in=erased)):
        yield {"type": "erasure", "fields": said(row, people)}
    yield from _links(project, people, say)
    for revision in _history(project):
        fields = said(revision, people)
        after = fields.get("after")
        if isinstance(after, dict) and after.get("reviewed_by_id") is not None:
            fields["after"] = {**after, "reviewed_by_id": people.get(after["reviewed_by_id"])}
        yield {"type": "revision", "fields": fields}
    if reads:
        for row in _pages(Read.objects.filter(project_id=project.pk)):
            yield {"type": "read", "fields": said(row, people)}


def _records(kind: Kind, project: Project, people: dict[int, str], say: Say) -> Iterator[Line]:
    for record in _pages(kind.model.objects.filter(project=project).select_related(*_ends(kind))):
        line: Line = {"type": "record", "id": record.node_id, "fields": said(record, people)}
        for name in _ends(kind):
            end = getattr(record, name)
            if end is None or end.project_id == project.pk:
                continue
            if not kind.model._meta.get_field(name).null:
                say(
                    f"{record.node_id} is left out: {end.node_id}, which it belongs to, is in another project."
                )
                break
            del line["fields"][name]
            say(f"{record.node_id}.{name} is left open: {end.node_id} is in another project.")
        else:
            yield line


def _ends(kind: Kind) -> list[str]:
    return {OUTCOME.name: ["decision"], MEMORY.name: ["source_run_fk"]}.get(kind.name, [])


def _links(project: Project, people: dict[int, str], say: Say) -> Iterator[Line]:
    for page in _paged(Link.objects.filter(project=project)):
        here = _here(project, {end for row in page for end in (row.source, row.target)})
        for row in page:
            if {row.source, row.target} <= here:
                yield {"type": "link", "fields": said(row, people)}
            else:
                say(f"{row} is left out: one of the two is not in the project.")


def _history(project: Project) -> Iterator[Revision]:
    """In its order. First, of records that were elsewhere before, what was said of them there."""
    for marks in _paged(ProjectionMark.objects.filter(project_id=project.pk)):
        node_ids = [mark.node_id for mark in marks]
        elsewhere = Revision.objects.filter(node_id__in=node_ids).exclude(project=project)
        yield from elsewhere.order_by("id")
    for page in _paged(Revision.objects.filter(project=project)):
        here = _here(project, {row.node_id for row in page})
        yield from (row for row in page if row.node_id in here)


def _here(project: Project, node_ids: set[str]) -> set[str]:
    rows = ProjectionMark.objects.filter(node_id__in=node_ids, project_id=project.pk)
    return set(rows.values_list("node_id", flat=True))


def _pages(rows: models.QuerySet[Any]) -> Iterator[Any]:
    for page in _paged(rows):
        yield from page


def _paged(rows: models.QuerySet[Any]) -> Iterator[list[Any]]:
    """By the primary key, since the servers' drivers hold a whole answer in memory."""
    after: Any = None
    while True:
        some = rows.order_by("pk") if after is None else rows.order_by("pk").filter(pk__gt=after)
        page = list(some[:ROWS_A_PAGE])
        if page:
            yield page
        if len(page) < ROWS_A_PAGE:
            return
        after = page[-1].pk

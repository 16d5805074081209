"""Two decision records as documents, their import, and what it left."""

from __future__ import annotations

from pathlib import Path

from decisions.models import Decision
from records.models import Link, ProjectionMark, Revision
from transfer.importing.importer import Options, import_folder
from transfer.importing.report import Report

CACHE = """# 1. Use a cache

Status: accepted
Date: 2024-03-15
Deciders: Ada, Grace

## Context

Totals are slow.

## Decision

We keep totals in Redis.

## Consequences

A server more.
"""
NO_CACHE = "# 2. No cache\n\n## Status\n\nProposed\n\n## Decision\n\nWe compute totals.\n\nSupersedes [1](0001-cache.md)\n"


def run(folder: Path, project, **options) -> Report:
    return import_folder(folder, project, Options(**options))


def outcomes(report: Report) -> dict[str, str]:
    return {file.path: file.outcome for file in report.files}


def traces(project) -> tuple[int, int, int]:
    wanted = ProjectionMark.objects.filter(project_id=project.pk).values_list("wanted_version", flat=True)
    return (
        Revision.objects.filter(project=project).count(),
        sum(wanted),
        Link.objects.filter(project=project).count(),
    )


def only(project) -> Decision:
    return Decision.objects.get(project=project)

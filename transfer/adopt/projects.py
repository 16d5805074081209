"""Which project each project_id of the source is here: as mapped, as adopted before, or a new one of that number."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.db.models import Max
from django.utils.text import slugify

from database.transactions import transactional
from projects.actions import create_project
from projects.manager import Manager
from projects.models import Project
from projects.names import project_named
from transfer.models import Arrival

NOBODYS = "none"
MANAGER = Manager.command("adopt")


class MapProblem(Exception):
    """What --map says cannot be so; the text says why."""


class Projects:
    """Looks each up once. `made` names those that this run made."""

    def __init__(self, origin: str, mapped: Mapping[str, str], greatest_there: int = 0) -> None:
        self._origin = origin
        self._greatest_there = greatest_there
        self._mapped = dict(mapped)
        self._known: dict[str, Project] = {}
        self.made: list[str] = []
        self._check()

    def _check(self) -> None:
        before = self._before()
        for key, slug in self._mapped.items():
            if slug != slugify(slug):
                raise MapProblem(
                    f"--map {key}={slug}: a project's short name has lower-case letters, digits and hyphens."
                )
            if key in before and before[key] != project_named(slug):
                raise MapProblem(
                    f"--map {key}={slug}: project_id {key} was adopted into {before[key].slug} before."
                )
        self._known = before

    def _before(self) -> dict[str, Project]:
        rows = dict(
            Arrival.objects.filter(origin=self._origin, kind="project").values_list("source_key", "node_id")
        )
        found = Project.objects.in_bulk([int(key) for key in rows.values()])
        return {source: found[int(key)] for source, key in rows.items() if int(key) in found}

    def is_mapped(self, key: str) -> bool:
        return key in self._mapped

    def of(self, written: int | None) -> Project:
        """The project of this project_id; None is the project of what names none."""
        key = NOBODYS if written is None else str(written)
        if key not in self._known:
            self._known[key] = self._make(key, written)
        return self._known[key]

    @transactional
    def _make(self, key: str, written: int | None) -> Project:
        slug = self._mapped.get(key)
        project = project_named(slug) if slug else None
        if project is None:
            name = slug or ("Without a project" if written is None else f"Project {written}")
            project = self._create(name, slug, written)
            self.made.append(f"{project.slug} (project_id {key} there, {project.pk} here)")
        Arrival.objects.create(origin=self._origin, kind="project", source_key=key, node_id=str(project.pk))
        return project

    def _create(self, name: str, slug: str | None, written: int | None) -> Project:
        free = written is not None and 0 < written < 2**31 and not Project.objects.filter(pk=written).exists()
        wanted = slug or slugify(name)
        try:
            for number in range(1, 1000):
                tried = wanted if number == 1 else f"{wanted}-{number}"
                if project_named(tried) is None:
                    return create_project(
                        by=MANAGER, name=name, slug=tried, pk=written if free else self._beyond()
                    )
        except ValidationError as error:
            raise MapProblem(" ".join(error.messages)) from error
        raise MapProblem(f"{wanted}: there are a thousand projects of this name.")

    def _beyond(self) -> int:
        """A number that no project_id of the source will want."""
        here = Project.objects.aggregate(most=Max("pk"))["most"] or 0
        return max(here, self._greatest_there) + 1

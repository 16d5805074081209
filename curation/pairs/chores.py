"""What is done beside the worker: all pairs of a project anew where its threshold, or the scorer, is another one.

Resumable: the lease row of the project says how far it came (`after`, a mark's id) under which rules.
"""

from __future__ import annotations

import time
from typing import Any

from curation.pairs.judging import SCORER
from curation.pairs.keeping import keep_pairs, project_pages
from projects.models import Project, ProjectPolicy
from records.leases import Lease

NAME = "pairs"
SECONDS = 5.0


def catch_up(seconds: float = SECONDS) -> bool:
    """Judge what was judged by other rules, for so many seconds. Whether there is more to do."""
    until = time.monotonic() + seconds
    for project_id, rules, after in behind():
        for last, node_ids in project_pages(project_id, after):
            keep_pairs(node_ids)
            _note(project_id, {"rules": rules, "after": last})
            if time.monotonic() > until:
                return True
        _note(project_id, {"rules": rules, "done": True})
    return False


def behind() -> list[tuple[int, list[Any], int]]:
    """(project id, its rules as they should be, the mark to go on after) of projects judged by others, or not wholly."""
    thresholds = dict(ProjectPolicy.objects.order_by().values_list("project_id", "duplicate_cosine"))
    default = ProjectPolicy().duplicate_cosine
    states = dict(Lease.objects.filter(name__startswith=f"{NAME} ").values_list("name", "state"))
    found: list[tuple[int, list[Any], int]] = []
    for project_id in Project.objects.order_by("pk").values_list("pk", flat=True):
        rules = [SCORER, thresholds.get(project_id, default)]
        state = states.get(f"{NAME} {project_id}", {})
        if state.get("rules") != rules:
            found.append((project_id, rules, 0))
        elif not state.get("done"):
            found.append((project_id, rules, int(state.get("after", 0))))
    return found


def rules_of(project_id: int) -> list[Any]:
    """By which the pairs of a project are to be judged now."""
    own = (
        ProjectPolicy.objects.filter(project_id=project_id).values_list("duplicate_cosine", flat=True).first()
    )
    return [SCORER, ProjectPolicy().duplicate_cosine if own is None else own]


def note_all_judged(project_id: int, rules: list[Any]) -> None:
    """By the command: nothing of the project is left to catch up with, if these, from before it began, still are its
    rules."""
    _note(project_id, {"rules": rules, "done": True})


def _note(project_id: int, state: dict[str, Any]) -> None:
    name = f"{NAME} {project_id}"
    Lease.objects.get_or_create(name=name, defaults={"holder": "", "state": state})
    Lease.objects.filter(name=name).update(state=state)

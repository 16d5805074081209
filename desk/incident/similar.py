"""Have we seen an incident like this text? The one answer of the page and of `POST /api/v1/incidents`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.db.models import Q
from django.utils.translation import gettext as _

from desk.context_pack.candidates import relevance_of
from recall.nearby import Near, Nearby, nearby
from records.kinds import group_by_kind
from records.models import ReviewState
from runs.models import Memory, Run

KINDS = ("memory", "run")
# Of each kind so many are looked at: some are hidden, and a run and its summary are one incident. Of one agent alone
# more, since those of the others are put aside.
SPARE, LEAST_LOOKED_AT, LOOKED_AT_OF_AN_AGENT = 3, 30, 3_000


@dataclass(frozen=True)
class Incident:
    """A past run that is like a text: by its own trigger and outcome, or by a memory of it.

    `score` in [0, 1]: two thirds the cosine, a third the place in the fused rankings. `cosine` is None where words alone
    found it; `run` is None for a memory that names none, `memory` where the run was found by itself.
    """

    run: Run | None
    memory: Memory | None
    score: float
    cosine: float | None
    why: tuple[str, ...]

    @property
    def record(self) -> Any:
        return self.run if self.run is not None else self.memory


@dataclass
class _Found:
    """An incident before its rows are read: keys, and the best of what found it."""

    run: str | None
    memory: str | None = None
    score: float = 0.0
    cosine: float | None = None
    why: tuple[str, ...] = ()

    def add(self, near: Near) -> None:
        self.score = max(self.score, relevance_of(near, near.cosine))
        cosines = [cosine for cosine in (self.cosine, near.cosine) if cosine is not None]
        self.cosine = max(cosines, default=None)
        self.why = tuple(dict.fromkeys([*self.why, *near.why]))


class _Brief(NamedTuple):
    """What decides whether a memory may be told."""

    key: str
    project_id: int
    run: str | None


def looked_at(k: int, agent: str) -> int:
    """How many of each kind to ask `nearby` for."""
    return LOOKED_AT_OF_AN_AGENT if agent else max(LEAST_LOOKED_AT, SPARE * k)


def incidents_like(
    project_ids: Sequence[int], text: str, *, k: int = 5, agent: str = "", reviewed_only: Collection[int] = ()
) -> tuple[list[Incident], list[str]]:
    """The runs and run memories most like a text, each run once, best first; and notes on how they were looked for.

    Of the projects in `reviewed_only` only what was approved.
    """
    found = [nearby(project_id, text, KINDS, looked_at(k, agent)) for project_id in sorted({*project_ids})]
    notes = list(dict.fromkeys(note for near in found for note in near.notes))
    incidents = incidents_among(found, k=k, agent=agent, reviewed_only=reviewed_only)
    if agent and len(incidents) < k and any(_is_full(near) for near in found):
        notes.append(
            _("Only the %s that match best were looked at, and few pass the filters: there may be others.")
            % f"{LOOKED_AT_OF_AN_AGENT:,}"
        )
    return incidents, notes


def _is_full(near: Nearby) -> bool:
    return any(len(near.by_kind[name]) >= LOOKED_AT_OF_AN_AGENT for name in KINDS)


def incidents_among(
    found: Sequence[Nearby], *, k: int, agent: str = "", reviewed_only: Collection[int] = ()
) -> list[Incident]:
    """The k best incidents of what was found near a text, their rows read: four statements, whatever there is."""
    near = {one.node_id: one for each in found for one in _of_incidents(each)}
    keys = group_by_kind(near)
    project_ids = [each.project_id for each in found]
    may_be_told = _may_be_told(project_ids, agent, reviewed_only)
    memories = {brief.key: brief for brief in _memories(keys.get("memory", []), may_be_told)}
    wanted = {*keys.get("run", []), *(brief.run for brief in memories.values() if brief.run)}
    runs: dict[str, int] = dict(
        Run.objects.active().filter(may_be_told, pk__in=wanted).values_list("pk", "project_id")
    ) if wanted else {}  # fmt: skip
    candidates: dict[str, _Found] = {}
    for node_id, one in near.items():
        key = node_id.partition("_")[2]
        if node_id.startswith("run_"):
            if key in runs:
                candidates.setdefault(node_id, _Found(key)).add(one)
        elif (brief := memories.get(key)) is not None:
            # Plain SQL may have put its run behind another project's wall.
            run = brief.run if brief.run and runs.get(brief.run) == brief.project_id else None
            incident = candidates.setdefault(f"run_{run}" if run else node_id, _Found(run))
            incident.memory = incident.memory or key
            incident.add(one)
    best = sorted(candidates.items(), key=lambda pair: (-pair[1].score, pair[0]))[:k]
    return _read([one for _name, one in best])


def _of_incidents(found: Nearby) -> list[Near]:
    """Their scores are parts of the best of them, whatever other kinds were asked for with them."""
    near = [one for name in KINDS for one in found.by_kind[name]]
    best = max((one.score for one in near), default=1.0)
    return [replace(one, score=one.score / best) for one in near]


def _may_be_told(project_ids: list[int], agent: str, reviewed_only: Collection[int]) -> Q:
    told = Q(project_id__in=project_ids)
    if agent:
        told &= Q(agent_name=agent)
    if reviewed_only:
        told &= ~Q(project_id__in=sorted(reviewed_only)) | Q(review_state=ReviewState.APPROVED)
    return told


def _memories(keys: Collection[str], may_be_told: Q) -> list[_Brief]:
    if not keys:
        return []
    rows = Memory.objects.active().filter(may_be_told, pk__in=keys)
    return [_Brief(*row) for row in rows.values_list("pk", "project_id", "source_run_fk_id")]


def _read(found: Sequence[_Found]) -> list[Incident]:
    runs: dict[str, Any] = {}
    memories: dict[str, Any] = {}
    if keys := [one.run for one in found if one.run]:
        runs = Run.objects.select_related("project").in_bulk(keys)
    if keys := [one.memory for one in found if one.memory]:
        memories = Memory.objects.select_related("project").defer("embedding").in_bulk(keys)
    incidents = []
    for one in found:
        run = runs.get(one.run) if one.run else None
        memory = memories.get(one.memory) if one.memory else None
        if run is not None or memory is not None:  # else somebody took it away meanwhile
            incidents.append(Incident(run, memory, one.score, one.cosine, one.why))
    return incidents

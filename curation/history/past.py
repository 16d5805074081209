"""A record as it was at a time: its columns, the links and outcomes that existed, the confidence it had."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from curation.history.past_links import Edge, edges_at
from decisions.models import Outcome
from patterns.confidence import posterior_mean
from patterns.models import Cause, Evidence, Pattern
from records.dates_in_words import days_of
from records.filter_fields import start_of_day
from records.kinds import Kind, kind_of
from records.merging import MERGE
from records.models import Revision
from records.queries import images_before, survivor_of
from records.undo_step import UNDO
from records.validation import check_time

EVENTS_READ = 2_000
OUTCOMES_READ, OUTCOMES_SHOWN = 200, 50
RESETS = (Cause.ADJUSTED, Cause.SQL)


def moment_of(text: str) -> datetime:
    """`2026-03-01T12:00`, or the end of a day or span in words: what was known when it was over. Raises ValueError."""
    try:
        exact = parse_datetime(text.strip()) if ":" in text else None
        if exact is not None:
            moment = exact if timezone.is_aware(exact) else timezone.make_aware(exact)
            check_time(moment)
            return moment
        _first, last = days_of(text, timezone.localdate())
        return start_of_day(last + timedelta(days=1)) if last else timezone.now()
    except (OverflowError, ValidationError) as error:
        raise ValueError(_("“%s” is not in the calendar.") % text) from error


@dataclass(frozen=True)
class Past:
    """The record at a moment. `revision` is the version then (None: it was not there yet, or its text was purged)."""

    moment: datetime
    revision: Revision | None
    first: Revision | None
    record: Any = None
    edges: tuple[Edge, ...] = ()
    outcomes: tuple[Any, ...] = ()
    confidence: float | None = None
    votes: tuple[int, int] = (0, 0)
    versions_since: int = 0
    image: dict[str, Any] = field(default_factory=dict)


def record_as_of(record: Any, moment: datetime) -> Past:
    """A constant number of statements, each on the index of one record, and one a step of the merges it was part of."""
    versions = Revision.objects.filter(node_id=record.node_id, version__isnull=False)
    first = versions.defer("after").order_by("version").first()
    then = versions.filter(created_at__lte=moment).order_by("-version").first()
    if then is None or then.after is None:
        return Past(moment, then, first)
    kind, survivor = kind_of(record), survivor_of(record)
    confidence, votes = _confidence_at(record, survivor, moment, then.after)
    return Past(
        moment=moment,
        revision=then,
        first=first,
        record=instance_of(kind, record.pk, then.after, record.project),
        edges=tuple(sorted(edges_at(record.node_id, moment))),
        outcomes=_outcomes_at(record, survivor, moment),
        confidence=confidence,
        votes=votes,
        versions_since=versions.filter(version__gt=then.version).count(),
        image=then.after,
    )


def instance_of(kind: Kind, pk: Any, image: dict[str, Any], project: Any) -> Any:
    """The record of an after-image, not to be saved. Columns that came later have their defaults."""
    instance: Any = kind.model()
    instance.pk = pk
    for column in kind.model.versioned_fields():
        if column.attname in image:
            value = image[column.attname]
            setattr(instance, column.attname, value if value is None else column.to_python(value))
    instance.project = project
    return instance


def _outcomes_at(record: Any, survivor: Any, moment: datetime) -> tuple[Any, ...]:
    """Those that were its own then: a merge moves them to the survivor."""
    if kind_of(record).name != "decision":
        return ()
    owners = {record.pk, survivor.pk}
    rows = Outcome.objects.filter(decision_id__in=owners, project_id=record.project_id)
    found = {
        outcome.node_id: outcome
        for outcome in rows.filter(created_at__lte=moment).order_by("-occurred_at", "-pk")[:OUTCOMES_READ]
    }
    moves = Revision.objects.filter(node_id__in=found, verb__in=(MERGE, UNDO), version__isnull=False)
    later = list(moves.filter(created_at__gt=moment).order_by("-version"))
    images = images_before(later)
    was = {row.node_id: images[row.pk]["decision_id"] for row in later if row.pk in images}
    own = [
        outcome for node_id, outcome in found.items() if was.get(node_id, outcome.decision_id) == record.pk
    ]
    for outcome in own:
        outcome.project = record.project
    return tuple(own[:OUTCOMES_SHOWN])


def _confidence_at(
    record: Any, survivor: Any, moment: datetime, image: dict[str, Any]
) -> tuple[float | None, tuple[int, int]]:
    """A pattern's, and the votes that counted then. Where some were taken back, or came with a merge, by then, it is
    computed from the prior."""
    if kind_of(record).name != "pattern":
        return None, (0, 0)
    rows = Evidence.objects.filter(pattern_id__in={record.pk, survivor.pk}, created_at__lte=moment)
    own = [row for row in rows.order_by("-pk")[:EVENTS_READ] if _owner_at(row, moment) == record.node_id]
    reset = next((row for row in own if row.cause in RESETS), None)
    counted = [row.cause for row in own if _counts_at(row, reset, moment)]
    votes = counted.count(Cause.WORKED), counted.count(Cause.FAILED)
    if any(_moves_by(row, moment) or _is_back_by(row, moment) for row in own):
        return posterior_mean(image["prior_confidence"], image["prior_weight"], *votes), votes
    return (own[0].confidence_after if own else None), votes


def _owner_at(row: Evidence, moment: datetime) -> str:
    later = (move["from"] for move in row.moves or () if datetime.fromisoformat(move["at"]) > moment)
    return next(later, f"{Pattern.prefix}_{row.pattern_id}")


def _moves_by(row: Evidence, moment: datetime) -> list[Any]:
    return [move for move in row.moves or () if datetime.fromisoformat(move["at"]) <= moment]


def _is_back_by(row: Evidence, moment: datetime) -> bool:
    return row.taken_back_at is not None and row.taken_back_at <= moment


def _counts_at(row: Evidence, reset: Evidence | None, moment: datetime) -> bool:
    """Whether a vote was not taken back by then, nor held by a new start, of this record or of the one it came from."""
    if _is_back_by(row, moment):
        return False
    if moves := _moves_by(row, moment):
        since = datetime.fromisoformat(moves[-1]["at"])
        return not moves[-1]["folded"] and (reset is None or since > reset.created_at)
    return reset is None or row.pk > reset.pk

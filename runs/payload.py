"""The leaves of a run's trigger payload as indexed key/values, written with the run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from runs.models import PayloadValue, Run

PAYLOAD_VALUES_MAX = 200
VALUES_AT_ONCE = 2_000
PATH_LENGTH = VALUE_LENGTH = 255


def index_payload(run: Run) -> None:
    """Keep the leaves of the trigger payload as indexed key/values (the first 200; the payload itself is whole)."""
    PayloadValue.objects.filter(run=run).delete()
    PayloadValue.objects.bulk_create(payload_values_of(run))


def index_payloads(runs: Sequence[Run]) -> None:
    """The same for runs that have no figures: new ones, of which nothing is indexed yet, and those of before figures."""
    of_runs = PayloadValue.objects.filter(run__in=[run.pk for run in runs])
    # Asked first: to delete what is not there would lock where others insert.
    if of_runs.order_by().exists():
        of_runs.delete()
    values = (value for run in runs for value in payload_values_of(run))
    # Long paths make much of a short payload: what is inserted at once stays below any server's packet.
    while some := list(islice(values, VALUES_AT_ONCE)):
        PayloadValue.objects.bulk_create(some)


def payload_values_of(run: Run) -> list[PayloadValue]:
    return [
        PayloadValue(
            run=run,
            project_id=run.project_id,
            path=path[:PATH_LENGTH],
            value=value[:VALUE_LENGTH],
            digest=digest_of(value),
        )
        for path, value in islice(leaves_of(run.trigger_payload), PAYLOAD_VALUES_MAX)
    ]


def digest_of(value: str) -> str:
    """Of the whole value, which the column may hold only the beginning of."""
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()


def leaves_of(value: Any) -> Iterator[tuple[str, str]]:
    """(path, value as text) of each leaf in the order of the text: `host`, `labels.zone`; a list's share its path."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, inner = waiting.pop()
        if isinstance(inner, dict):
            steps = [(f"{path}.{key}" if path else str(key), one) for key, one in inner.items()]
            waiting += reversed(steps)
        elif isinstance(inner, list):
            waiting += [(path, one) for one in reversed(inner)]
        elif inner is not None:
            yield _kept(path), _kept(inner if isinstance(inner, str) else json.dumps(inner))


def _kept(text: str) -> str:
    """Plain SQL may have written half a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8")

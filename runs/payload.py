"""The leaves of a run's trigger payload as indexed key/values, written with the run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from runs.models import PayloadValue, Run

PAYLOAD_VALUES_MAX = 200


def index_payload(run: Run) -> None:
    """Keep the leaves of the trigger payload as indexed key/values (the first 200; the payload itself is whole)."""
    PayloadValue.objects.filter(run=run).delete()
    PayloadValue.objects.bulk_create(payload_values_of(run))


def index_payloads(runs: Sequence[Run]) -> None:
    """The same for new runs, of which nothing is indexed yet."""
    PayloadValue.objects.bulk_create([value for run in runs for value in payload_values_of(run)])


def payload_values_of(run: Run) -> list[PayloadValue]:
    leaves = list(_leaves(run.trigger_payload))[:PAYLOAD_VALUES_MAX]
    return [
        PayloadValue(
            run=run,
            project_id=run.project_id,
            path=path[:255],
            value=value[:255],
            digest=hashlib.sha256(value.encode()).hexdigest(),
        )
        for path, value in leaves
    ]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, path)
    elif value is not None:
        yield path, value if isinstance(value, str) else json.dumps(value)

"""What calls left in the database: every row, told so that two ways of writing the same can be compared."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.db.models import F
from django.utils import timezone

from records.images import seen_digest_of
from records.kinds import all_kinds
from records.models import ProjectionMark, Record
from runs import summing
from runs.figures import RunSummary
from runs.models import Memory

TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
# Of the call and not of what it wrote: an act is a call; a mark counts how often it was asked for; the digest of a row
# holds its times (see `nothing_is_unseen`).
OF_THE_CALL = {"act", "request_id", "wanted_version", "seen_digest"}


def left(node_ids: list[str | None]) -> dict[str, list[Any]]:
    """Every row of every table, told without keys and clocks; a record by the item that made it."""
    names: dict[str, str] = {}
    for at, node_id in enumerate(node_ids):
        if node_id is not None:
            names.setdefault(node_id, f"item {at}")
    for memory in Memory.objects.exclude(source_run_fk=None):
        run = memory.source_run_fk.node_id
        names.setdefault(memory.node_id, f"memory of {names.get(run, run)}")
    keys = {node_id.partition("_")[2]: name for node_id, name in names.items() if len(node_id) > 32}
    return {
        model._meta.db_table: _rows_of(model, names | keys)
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and model is not RunSummary
    } | {"run_summaries": sorted(_sums().items(), key=str)}


def _rows_of(model: Any, names: dict[str, str]) -> list[Any]:
    prefixes = {
        column.attname: column.related_model.prefix
        for column in model._meta.concrete_fields
        if column.is_relation and issubclass(column.related_model, Record)
    }
    rows = []
    for row in model._default_manager.order_by("pk").values():
        told = {
            name: _told(f"{prefixes[name]}_{value}" if name in prefixes else value, names)
            for name, value in row.items()
            if name not in OF_THE_CALL and name != "id"
        }
        rows.append(told | ({"id": names[str(row["id"])]} if str(row.get("id")) in names else {}))
    # A record's own rows are told in their order, which is that of its history.
    return sorted(
        rows,
        key=lambda row: str(row["node_id"]) if "node_id" in row else json.dumps(row, sort_keys=True),
    )


def _told(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _told(inner, names) for key, inner in value.items() if key not in OF_THE_CALL}
    if isinstance(value, list | tuple):
        return [_told(inner, names) for inner in value]
    if isinstance(value, datetime):
        value = value.isoformat()
    if isinstance(value, str):
        value = names.get(value, value)
        return TIME.sub(lambda found: "now" if _is_now(found[0]) else found[0], value)
    return value if isinstance(value, int | float | bool | None) else str(value)


def _is_now(written: str) -> bool:
    moment = datetime.fromisoformat(written)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.get_default_timezone())
    return abs(timezone.now() - moment) < timedelta(
        hours=3
    )  # the figures of a run keep the hour in which it began


def _sums() -> Counter:
    """The sums are a log: what is true is the sum of its rows."""
    sums: Counter = Counter()
    for row in RunSummary.objects.all():
        key = tuple(_told(getattr(row, name), {}) for name in summing.KEY)
        sums[key, "runs"] += row.runs
        sums[key, "tokens"] += row.tokens
    return Counter({key: number for key, number in sums.items() if number})


def nothing_is_unseen() -> None:
    """The sweep would find no row that the desk does not know as it is, and the worker is asked for each."""
    digests = dict(ProjectionMark.objects.values_list("node_id", "seen_digest"))
    assert not ProjectionMark.objects.filter(embedded_version=F("wanted_version")).exists()
    for kind in all_kinds():
        for record in kind.model.objects.all():
            assert digests[record.node_id] == seen_digest_of(record)


def told_of(answer: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    told = (
        "status",
        "became",
        "duplicate_of",
        "searchable_at",
        "queued",
        "node_id",
        "version",
        "detail",
        "errors",
    )
    return {name: _told(answer[name], names) for name in told if name in answer}

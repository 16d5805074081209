"""The tables beside agent_runs that lists and charts read: a narrow copy of each run, and sums over many of them."""

from __future__ import annotations

import math

from django.db import models

from database.columns import ExactCharField, ExactTextField

# Durations are kept by level: four levels double them. A quantile is told as the middle of its level (geometric mean of
# its ends), which is off by at most 2^(1/8) - 1 = 9.1 %.
LEVELS_A_DOUBLING = 4
NO_LEVEL = -1


def level_of(milliseconds: int) -> int:
    """The level of a duration; everything below 1 ms is on the first."""
    return math.floor(math.log2(max(milliseconds, 1)) * LEVELS_A_DOUBLING)


def milliseconds_of(level: int) -> float:
    return float(2 ** ((level + 0.5) / LEVELS_A_DOUBLING))


class Dimensions(models.Model):
    """What charts and their filters tell runs apart by. What is NULL in the run is empty here."""

    project_id = models.IntegerField(null=True)
    agent_name = ExactTextField(max_length=255)
    agent_version = ExactTextField(max_length=50)
    trigger_type = ExactTextField(max_length=100)
    status = ExactCharField(max_length=24)
    escalated = models.BooleanField()

    class Meta:
        abstract = True


class RunFigures(Dimensions):
    """The figures of one run, as the sums hold them: whoever changes a run takes these out and puts the new ones in.

    No foreign key: where plain SQL deletes the run, they stay until they are taken out of the sums. `hour` is the hour (UTC)
    in which it started; `duration_ms` is NULL while it runs, and where it ended before it began. `payload_digest` is of the
    payload whose key/values are indexed.
    """

    run_id = ExactCharField(max_length=32, unique=True)
    active = models.BooleanField()
    started_at = models.DateTimeField()
    hour = models.DateTimeField()
    token_cost = models.IntegerField(null=True)
    duration_ms = models.BigIntegerField(null=True)
    payload_digest = ExactCharField(max_length=64)

    class Meta:
        db_table = "run_figures"
        ordering = ["id"]
        indexes = [
            models.Index(fields=["project_id", "hour", "started_at"], name="run_figures_hour"),
            models.Index(fields=["project_id", "token_cost", "run_id"], name="run_figures_tokens"),
            models.Index(fields=["project_id", "duration_ms", "run_id"], name="run_figures_duration"),
        ]

    def __str__(self) -> str:
        return self.run_id


class RunSummary(Dimensions):
    """Sums over the active runs that started in one hour or one day, both of UTC.

    Rows of `grain` hour hold counts and tokens; those of `day` counts by level of duration, of runs that ended. An act adds
    rows (with negative numbers where a run changed) and locks none; what is true is the sum over all rows of a key.
    A worker merges them.
    """

    class Grain(models.TextChoices):
        HOUR = "hour"
        DAY = "day"

    grain = ExactCharField(max_length=8, choices=Grain.choices)
    start = models.DateTimeField()
    level = models.SmallIntegerField(default=NO_LEVEL)
    runs = models.IntegerField()
    tokens = models.BigIntegerField()
    merged = models.BooleanField(default=False)

    class Meta:
        db_table = "run_summaries"
        ordering = ["id"]
        indexes = [
            # Holds all that a chart reads.
            models.Index(
                fields=[
                    "project_id", "grain", "start", "status", "escalated", "level", "runs", "tokens",
                    "agent_name", "agent_version", "trigger_type",
                ],
                name="run_summaries_read",
            ),
            models.Index(fields=["merged", "project_id", "grain", "start"], name="run_summaries_unmerged"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.grain} {self.start:%Y-%m-%d %H}"

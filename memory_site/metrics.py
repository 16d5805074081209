"""`/metrics` for Prometheus: requests by route, and from the database how far the projection is behind.

With several web processes each writes its own counts into files of one folder, and whichever is asked adds them up.
prometheus_client decides about that when it is imported: hence only in functions, once the processes are known.
"""

from __future__ import annotations

import atexit
import hmac
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from desk.health import projection
from desk.health.page import Health
from graph.queries import graph_lag
from projects.access import OPERATOR
from records.reads import reads_lost, reads_waiting

log = logging.getLogger("memory_desk.metrics")
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
FORWARDED = ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Via")


def share_between_processes() -> None:
    """In the server before it forks: a folder for the counts of its processes, gone when it ends."""
    if settings.WEB_PROCESSES == 1 or FOLDER in os.environ:
        return
    folder, server = tempfile.mkdtemp(prefix="memory-desk-metrics-"), os.getpid()
    os.environ[FOLDER] = folder
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == server else None)


def forget_process(pid: int) -> None:
    """In the server after one of its processes ended: its counts stay, what it was like does not."""
    if FOLDER in os.environ:
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]


class Meters:
    """What this process counts."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry = own = CollectorRegistry()
        self.requests = Histogram(
            "memory_desk_request_seconds", "Time to answer, by route, method and class of status",
            ["route", "method", "status"], buckets=SECONDS, registry=own,
        )  # fmt: skip
        self.lost = Counter("memory_desk_reads_lost", "Agents' reads that could not be noted", registry=own)
        self.waiting = Gauge(
            "memory_desk_reads_waiting", "Agents' reads noted in memory, not written yet", registry=own,
            multiprocess_mode="livesum",
        )  # fmt: skip
        self.away = Gauge(
            "memory_desk_graph_breaker_open", "1: a web process found Neo4j silent and does not ask it now", registry=own,
            multiprocess_mode="livemax",
        )  # fmt: skip
        self._lost = 0

    def note_process(self) -> None:
        lost = reads_lost()
        if lost > self._lost:
            self.lost.inc(lost - self._lost)
        self._lost = lost
        self.waiting.set(reads_waiting())
        if settings.GRAPH_URL:
            from graph.connection import breaker

            self.away.set(breaker.away_since is not None)

    def summed(self) -> Any:
        """A registry of what all processes counted."""
        if FOLDER not in os.environ:
            return self.registry
        from prometheus_client import CollectorRegistry
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return registry


@cache
def meters() -> Meters:
    return Meters()


class RequestMetrics:
    """Times every request by the name of its route; what a visitor chose is no label."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = self.get_response(request)
        method = request.method if request.method in METHODS else "other"
        status = f"{response.status_code // 100}xx"
        try:
            meters().requests.labels(route_of(request), method, status).observe(time.perf_counter() - began)
            meters().note_process()
        except Exception as error:  # no room for its file, say: what is counted must not fail what is asked
            log.warning("A request was not counted: %s", error)
        return response


def route_of(request: HttpRequest) -> str:
    if request.resolver_match is None:
        return "static" if request.path.startswith(settings.STATIC_URL) else "none"
    return (
        "admin" if request.resolver_match.app_name == "admin" else request.resolver_match.view_name or "none"
    )


class Desk:
    """What the database says at the time of the scrape, the same whichever process is asked."""

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily as Gauge

        info = Gauge("memory_desk_info", "The program", labels=["version", "encoder"])
        info.add_metric([settings.VERSION, settings.ENCODER], 1)
        yield info
        up = Gauge("memory_desk_database_up", "1: the database answered this scrape")
        try:
            found = list(self._found())
        except Error as error:
            log.warning("Metrics without the database: %s", error)
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield from found

    def _found(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily as Gauge

        now = timezone.now()

        def age(moment: Any) -> float:
            return max((now - moment).total_seconds(), 0.0) if moment else 0.0

        queue = projection.queue()
        depth = Gauge("memory_desk_queue_depth", "Records that wait for a step", labels=["step"])
        oldest = Gauge(
            "memory_desk_queue_age_seconds", "How long the first of them has waited", labels=["step"]
        )
        for step, stage in (("embedding", queue.embedding), ("graph", queue.graph)):
            if stage is not None:
                depth.add_metric([step], stage.waiting)
                oldest.add_metric([step], age(stage.since))
        yield from (depth, oldest)
        dead = Health(OPERATOR).given_up_count
        yield Gauge(
            "memory_desk_given_up", "Records whose projection failed for good, until somebody retries", dead
        )
        alive = [worker for worker in projection.workers() if worker.alive]
        yield Gauge("memory_desk_workers", "Workers that live", len(alive))
        beats = Gauge(
            "memory_desk_worker_heartbeat_age_seconds",
            "Since a worker's last sign of life",
            labels=["worker"],
        )
        failing = Gauge(
            "memory_desk_worker_hindered", "1: it says that something hinders it", labels=["worker"]
        )
        for worker in alive:
            beats.add_metric([worker.holder], age(worker.beat_at))
            failing.add_metric([worker.holder], bool(worker.problem))
        yield from (beats, failing)
        yield Gauge(
            "memory_desk_sweep_age_seconds",
            "Since plain-SQL writes were last taken in",
            age(projection.rounds().swept_at),
        )
        if settings.GRAPH_URL:
            away = graph_lag().away_since
            yield Gauge(
                "memory_desk_graph_away_seconds", "How long Neo4j has been silent; 0: it answers", age(away)
            )


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The text format. For whoever has METRICS_TOKEN; without that setting for this machine alone."""
    if refused := _refused(request):
        return refused
    from prometheus_client import CollectorRegistry
    from prometheus_client.exposition import choose_encoder

    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    meters().note_process()
    fresh = CollectorRegistry()
    fresh.register(Desk())
    return HttpResponse(encode(meters().summed()) + encode(fresh), content_type=content_type)


def _refused(request: HttpRequest) -> HttpResponse | None:
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "")
        if hmac.compare_digest(given.encode(), f"Bearer {settings.METRICS_TOKEN}".encode()):
            return None
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    # A proxy on this machine asks from this machine, for anybody.
    proxied = settings.TRUSTED_PROXIES or any(name in request.headers for name in FORWARDED)
    return None if is_local(request.META.get("REMOTE_ADDR", "")) and not proxied else HttpResponse(status=403)


def is_local(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:  # a socket of the file system, say
        return False

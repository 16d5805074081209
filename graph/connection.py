"""The one connection to Neo4j of this process: short time-outs, a breaker, and nothing that outlives a fork.

A server that refuses answers at once, but one that is stopped or cut off keeps a socket open and silent, and the
driver has no time-out for that: so each call runs in another thread, with a deadline, and after a failure nobody asks
again until a pause is over.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.utils import timezone

from graph import failpoints
from graph.address import GraphAddress, parse_graph_url
from graph.store import GraphAway

if TYPE_CHECKING:
    from neo4j import Driver, Transaction

T = TypeVar("T")
log = logging.getLogger("memory_desk.graph")

CONNECT_SECONDS = 1.0
READ_SECONDS = 1.2  # of one answer, whatever its number of statements
WRITE_SECONDS = 30.0  # of one batch of the worker
PROBE_SECONDS = 5.0  # of a word from the server before such a batch
FRESH_SECONDS = 2.0  # for so long an answer tells that the server is there
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 15.0
WRITE_TRIES = 6
POOL = 40


class Breaker:
    """Open after a failure: nobody asks the graph until a pause is over, which doubles with each failure.

    Then one asks, and the others are still refused until it has its answer: a page in how many waits, not all of them.
    """

    def __init__(self) -> None:
        self.away_since: datetime | None = None
        self.problem = ""
        self.answered_at = float("-inf")
        self._pause = FIRST_PAUSE
        self._retry_at = 0.0
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        return self.away_since is not None and time.monotonic() < self._retry_at

    def check(self) -> None:
        if self.is_open:
            raise GraphAway(self.problem)

    def enter(self) -> None:
        """As `check`, for the one who is about to ask: until the answer is there all others are refused."""
        with self._lock:
            self.check()
            self._retry_at = time.monotonic() + READ_SECONDS

    def failed(self, problem: str) -> None:
        with self._lock:
            if self.away_since is None:
                self.away_since = timezone.now()
                log.warning("The graph does not answer: %s", problem)
            self.problem = problem
            self._retry_at = time.monotonic() + self._pause * random.uniform(0.75, 1.25)
            self._pause = min(self._pause * 2, LONGEST_PAUSE)

    def succeeded(self) -> None:
        self.answered_at = time.monotonic()
        if self.away_since is not None:
            with self._lock:
                log.warning("The graph answers again; it was away since %s", self.away_since)
                self.away_since, self._pause, self.problem = None, FIRST_PAUSE, ""


breaker = Breaker()
_lock = threading.Lock()
_driver: Driver | None = None
_address: GraphAddress | None = None
# Where threads without work wait for it.
_idle: list[SimpleQueue[_Errand]] = []


def configured_address() -> GraphAddress | None:
    """Where GRAPH_URL says that Neo4j is; None: there is no Neo4j, the desk's own tables are the graph."""
    return parse_graph_url(settings.GRAPH_URL)


def driver() -> Driver:
    """The driver, made when first asked for; it connects lazily."""
    global _driver, _address
    address = configured_address()
    if address is None:
        raise GraphAway("GRAPH_URL is empty")
    with _lock:
        if _driver is None or _address != address:
            from neo4j import GraphDatabase, NotificationMinimumSeverity

            if _driver is not None:
                _driver.close()
            _driver = GraphDatabase.driver(
                address.uri,
                auth=address.auth,
                connection_timeout=CONNECT_SECONDS,
                connection_acquisition_timeout=READ_SECONDS,
                max_connection_pool_size=POOL,
                liveness_check_timeout=30.0,
                keep_alive=True,
                notifications_min_severity=NotificationMinimumSeverity.OFF,
                user_agent="memory-desk",
            )
            _address = address
        return _driver


def fetch(
    statement: str, parameters: Mapping[str, Any], *, seconds: float | None = None
) -> list[tuple[Any, ...]]:
    """The rows of one reading statement, in a session of its own; the server gives it up, too, after `seconds`, or
    twice the time of an answer."""
    from neo4j import READ_ACCESS, Query
    from neo4j.exceptions import ServiceUnavailable, SessionExpired

    query = Query(statement, timeout=seconds or 2 * READ_SECONDS)  # type: ignore[arg-type]
    for attempt in range(2):
        try:
            with driver().session(default_access_mode=READ_ACCESS, database=_database()) as session:
                return [tuple(record.values()) for record in session.run(query, dict(parameters))]
        except (SessionExpired, ServiceUnavailable):
            # A connection that was pooled before the server started anew; the pool is empty now.
            if attempt:
                raise
    raise AssertionError("unreachable")


def write(work: Callable[[Transaction], T]) -> T:
    """Run `work` in one transaction, again where another one was in its way; within time, through the breaker.

    `work` may run twice, should the answer to its COMMIT be lost: what it writes must be the same then.
    """
    from neo4j.exceptions import ServiceUnavailable, SessionExpired, TransientError

    def in_session() -> T:
        for attempt in range(WRITE_TRIES):
            try:
                with driver().session(database=_database()) as session:
                    with session.begin_transaction(timeout=WRITE_SECONDS) as tx:
                        answer = work(tx)
                        failpoints.reach(failpoints.IN_GRAPH_TRANSACTION)
                        tx.commit()
                    return answer
            except TransientError:  # two workers locked each other out
                if attempt == WRITE_TRIES - 1:
                    raise
                time.sleep(random.uniform(0.05, 0.2) * (attempt + 1))
            except (SessionExpired, ServiceUnavailable):
                if attempt:
                    raise
        raise AssertionError("unreachable")

    # A silent server must not hold the worker up for as long as a large batch may take: embeddings go on without it.
    if time.monotonic() - breaker.answered_at > FRESH_SECONDS:
        guarded(lambda: fetch("RETURN 1", {}, seconds=PROBE_SECONDS), PROBE_SECONDS)
    return guarded(in_session, WRITE_SECONDS)


def guarded(work: Callable[[], T], seconds: float) -> T:
    """What `work` answers; GraphAway where it does not within the time, and at once while the breaker is open."""
    from neo4j.exceptions import AuthError, DriverError, TransientError

    breaker.enter()
    try:
        answer = within_time(work, seconds)
    except (DriverError, AuthError, TransientError, OSError) as error:
        breaker.failed(f"{type(error).__name__}: {error}")
        raise GraphAway(breaker.problem) from error
    except Exception:
        breaker.succeeded()  # an answer, too
        raise
    breaker.succeeded()
    return answer


class _Errand:
    """A piece of work for another thread, and what came of it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.answer: Any = None
        self.error: BaseException | None = None
        self.pending = threading.Lock()
        self.pending.acquire()

    def run(self) -> None:
        try:
            self.answer = self.work()
        except BaseException as error:
            self.error = error


def within_time(work: Callable[[], T], seconds: float) -> T:
    """What `work` answers or raises; TimeoutError after so many seconds, its thread left to its fate.

    Of those threads only one whose connection came from the driver's pool waits for as long as the server is silent, and
    it keeps that connection: they are never more than POOL. What opens a connection, or waits for one, the driver gives up.
    """
    errand = _Errand(work)
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = SimpleQueue()
        threading.Thread(target=_run_errands, args=(inbox,), name="memory-desk-graph", daemon=True).start()
    inbox.put(errand)
    if not errand.pending.acquire(timeout=seconds):
        raise TimeoutError(f"no answer within {seconds:g} s")
    if errand.error is not None:
        raise errand.error
    answer: T = errand.answer
    return answer


def _run_errands(inbox: SimpleQueue[_Errand]) -> None:
    """One after another, as a thread's start costs as much as a small answer; it comes back when its work has an end."""
    is_kept = True
    while is_kept:
        errand = inbox.get()
        errand.run()
        if is_kept := len(_idle) < POOL:
            _idle.append(inbox)
        errand.pending.release()
        del errand  # what it holds is for the one who waits


def away_since() -> datetime | None:
    """Since when Neo4j is silent; None: it answers, as far as this process knows.

    Whoever only looks must hear of its return, too: when the pause is over, a thread asks for a word.
    """
    since = breaker.away_since
    if since is not None and not breaker.is_open and configured_address() is not None:
        threading.Thread(target=_ask_for_a_word, name="memory-desk-graph-probe", daemon=True).start()
    return since


def _ask_for_a_word() -> None:
    with suppress(Exception):  # the breaker tells
        guarded(lambda: fetch("RETURN 1", {}), READ_SECONDS)


def forget_connection() -> None:
    """Close the driver; the next call opens another. After GRAPH_URL changed."""
    global _driver
    with _lock:
        if _driver is not None:
            _driver.close()
        _driver = None
    breaker.__init__()  # type: ignore[misc]


def _database() -> str | None:
    return _address.database if _address else None


def _drop_in_child() -> None:
    """In a forked child: the parent's sockets are not ours, and closing them would speak on them."""
    global _driver, _lock
    _driver, _lock = None, threading.Lock()
    _idle.clear()  # its threads are the parent's
    breaker.__init__()  # type: ignore[misc]


os.register_at_fork(after_in_child=_drop_in_child)

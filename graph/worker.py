"""The worker: brings embeddings, similarities and the graph up to the projection marks.

Level-triggered: a mark says what version is wanted, so a retry is safe, many edits collapse into one, order does not
matter and a crash at any line loses nothing. Any number of workers may run at once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connection
from django.utils import timezone

from database.transactions import is_retryable
from graph import claims as marks
from graph import failpoints
from graph.claims import Claim
from graph.store import GraphAway
from graph.sweeper import Sweeper
from recall import embedder
from recall.encoders import EncoderUnavailable
from recall.similar import update_similarities
from recall.vectors import configured_encoder
from recall.words import forget_words, keep_words
from records import followers, leases
from records.leases import WORKER, Lease, LeaseBusy
from records.models import Record
from records.queries import records_by_node_id

log = logging.getLogger("memory_desk.worker")
BATCH = 64
RETRIES_A_ROUND = 8
BEAT_SECONDS = 5.0
WORKER_LEASE_SECONDS = 60.0
ELECTION_SECONDS = 15.0
NO_ENCODER_PAUSE = 30.0
LONGEST_PAUSE = 15.0
NICENESS = 10  # where it shares processors with the web server, people and agents come first


class Projector(Protocol):
    """Shows records in a graph store. The relational store needs none: it reads links and similarities themselves."""

    @property
    def is_away(self) -> bool:
        """The store did not answer just now, and is not asked again yet."""

    @property
    def away_since(self) -> datetime | None: ...

    def project(self, records: Sequence[Record], gone: Collection[str], versions: Mapping[str, int]) -> None:
        """Show these records, and of those `gone` that they are; GraphAway where the store does not answer."""


def configured_projector() -> Projector | None:
    """The projector of the store that GRAPH_URL names; None where the desk's own tables are the graph."""
    if not settings.GRAPH_URL:
        return None
    from graph.projector import Neo4jProjector

    return Neo4jProjector()


class Stopping(Exception):
    """The worker is asked to end while it works; what is unfinished is given back."""


class DatabaseAway(Exception):
    """The database does not answer, or is locked: no record's fault."""


NOT_THE_RECORDS_FAULT = (EncoderUnavailable, LeaseBusy, DatabaseAway, Stopping)


class Worker:
    """Works in one thread. `stop` asks it to end; it then gives back what it has claimed."""

    def __init__(self, projector: Projector | None = None, *, batch: int = BATCH) -> None:
        self.batch = batch
        self.holder = leases.new_holder()
        self.stopping = False
        self._projector = projector or configured_projector()
        self._token = marks.new_token()
        self._unfinished: dict[int, Claim] = {}
        self._sweeper = Sweeper(self.holder)
        self._beat_at = 0.0
        self._done = 0
        self._failed = 0
        self._problem = ""
        self._started_at = timezone.now()
        self._elected_as = ""

    def stop(self) -> None:
        """Safe in a signal handler: sets a flag, takes no lock."""
        self.stopping = True

    def run(self, wait: Callable[[float], object], poll_seconds: float, only_as: str = "") -> None:
        """Work until stopped; between rounds `wait(seconds)`. With `only_as`, only while holding that lease."""
        self._elected_as = only_as
        self._sweeper.start()
        pause = 1.0
        try:
            while not self.stopping:
                worked = 0
                try:
                    close_old_connections()
                    if not only_as or leases.take_for_a_while(only_as, self.holder, ELECTION_SECONDS):
                        worked = self.work_once()
                        self.beat()
                    pause = 1.0
                except EncoderUnavailable as error:
                    self._rest(NO_ENCODER_PAUSE, str(error))
                except LeaseBusy as error:
                    self._rest(1.0, f"waiting for {error}")
                except Stopping:
                    break
                except (DatabaseAway, OperationalError, InterfaceError) as error:
                    connection.close()
                    self._rest(pause, f"the database does not answer: {error}")
                    pause = min(pause * 2, LONGEST_PAUSE)
                except Exception as error:  # a mistake of ours or in the settings: the loop must outlive it
                    log.exception("The worker's round failed")
                    self._rest(pause, f"{type(error).__name__}: {error}")
                    pause = min(pause * 2, LONGEST_PAUSE)
                if not worked and not self.stopping:
                    wait(poll_seconds)
        finally:
            self._end()

    def work_once(self) -> int:
        """One round: a batch of fresh marks, then a few of those that failed before, one by one. How many were due."""
        self._give_back()
        worked = self._work(self._claim(self.batch))
        for _ in range(RETRIES_A_ROUND):
            # Alone: should this be the record that ends the process, no other is counted a failure with it.
            again = self._work(self._claim(1, again=True))
            worked += again
            if not again:
                break
        return worked

    def _claim(self, limit: int, *, again: bool = False) -> list[Claim]:
        # While the graph is away, what waits for it alone is left where it is: all of it comes when it is back.
        away = self._projector is not None and self._projector.is_away
        return marks.claim(self._token, limit, again=again, unembedded=away)

    def _work(self, claims: list[Claim]) -> int:
        if not claims:
            return 0
        self._unfinished = {claim.pk: claim for claim in claims}
        failpoints.reach(failpoints.AFTER_CLAIM)
        try:
            self._attempt(claims)
        finally:
            self._give_back()
        if self._problem:
            log.info("Working again")
            self._problem = ""
        return len(claims)

    def _give_back(self) -> None:
        """Marks that were claimed and not finished; kept in mind until the database has heard it."""
        if self._unfinished:
            marks.release(self._token, self._unfinished.values())
            self._unfinished = {}

    def _attempt(self, claims: Sequence[Claim]) -> None:
        """Bring these up to date; where one of them fails, halve until it is alone, so that the others go on."""
        try:
            self._bring_up_to_date(claims)
        except NOT_THE_RECORDS_FAULT:
            raise
        except Exception as error:
            if _is_trouble_of_the_database(error):
                raise DatabaseAway(str(error)) from error
            left = [claim for claim in claims if claim.pk in self._unfinished]
            if len(left) > 1:
                self._attempt(left[: len(left) // 2])
                self._attempt(left[len(left) // 2 :])
            elif left:
                log.exception("%s cannot be projected (attempt %d)", left[0].node_id, left[0].attempts)
                marks.fail(self._token, left[0], error)
                self._unfinished.pop(left[0].pk)
                self._failed += 1

    def _bring_up_to_date(self, claims: Sequence[Claim]) -> None:
        by_node = {claim.node_id: claim for claim in claims}
        records = records_by_node_id([claim.node_id for claim in claims if not claim.gone])
        gone = [node_id for node_id in by_node if node_id not in records]
        if gone:
            self._remove(gone, by_node)
        embedded = [record for node_id, record in records.items() if self._only_graph(by_node[node_id])]
        if embedded:
            self._show(embedded, (), by_node)
        encoder = configured_encoder()
        others = [record for node_id, record in records.items() if not self._only_graph(by_node[node_id])]
        for some in embedder.by_size(others):
            self._check()
            # Before the vectors: words are found also while there is no encoder.
            keep_words(some, may_write=lambda node_ids: self._ours(by_node[node_id] for node_id in node_ids))
            for portion in embedder.portions(embedder.plan(some, encoder)):
                failpoints.reach(failpoints.EMBEDDING)
                written = embedder.embed(
                    portion,
                    encoder,
                    may_write=lambda node_ids: self._ours(by_node[node_id] for node_id in node_ids),
                    between_calls=self._check,
                )
                shown = [made.record for made in portion if made.record.node_id in written]
                update_similarities({record.node_id: record.project_id for record in shown})
                followers.tell_up_to_date([record.node_id for record in shown])
                failpoints.reach(failpoints.AFTER_EMBEDDING)
                self._show(shown, (), by_node)
                self._check()

    def _remove(self, gone: list[str], by_node: dict[str, Claim]) -> None:
        embedder.forget(gone)
        forget_words(gone)
        update_similarities({}, gone)
        followers.tell_up_to_date(gone)
        self._show((), gone, by_node)

    def _only_graph(self, claim: Claim) -> bool:
        return claim.embedded and self._projector is not None

    def _show(self, records: Sequence[Record], gone: Collection[str], by_node: dict[str, Claim]) -> None:
        """The graph, and the acknowledgement: of the embedding alone where the graph is away."""
        done = [by_node[node_id] for node_id in [*(record.node_id for record in records), *gone]]
        if self._projector is not None:
            try:
                self._projector.project(records, gone, {one.node_id: one.version for one in done})
            except GraphAway:
                self._finish(done, projected=False)
                return
            failpoints.reach(failpoints.AFTER_GRAPH_WRITE)
        self._finish(done)

    def _ours(self, claims: Any) -> set[str]:
        return {mark.node_id for mark in marks.lock_ours(self._token, claims)}

    def _finish(self, claims: list[Claim], *, projected: bool = True) -> None:
        marks.acknowledge(self._token, claims, projected=projected)
        for claim in claims:
            self._unfinished.pop(claim.pk)
        if projected:  # else the same ones come again
            self._done += len(claims)

    def _check(self) -> None:
        """Between two steps of a long batch: end if asked to, else say that we live and prolong what we hold."""
        if self.stopping:
            raise Stopping
        self.beat()

    def beat(self) -> None:
        """Every few seconds: the heartbeat that the health page shows, and another minute for every lease held."""
        if time.monotonic() - self._beat_at < BEAT_SECONDS:
            return
        self._beat_at = time.monotonic()
        if leases.take(WORKER + self.holder, self.holder, WORKER_LEASE_SECONDS):
            Lease.objects.filter(name=WORKER + self.holder).update(state=self._state())
        if self._elected_as:
            leases.take_for_a_while(self._elected_as, self.holder, ELECTION_SECONDS)
        if self._unfinished:
            marks.prolong(self._token, self._unfinished.values())
        self._sweeper.keep()

    def _state(self) -> dict[str, Any]:
        away = self._projector.away_since if self._projector else None
        return {
            "started_at": self._started_at.isoformat(),
            "graph_away_since": away.isoformat() if away else None,
            "done": self._done,
            "failed": self._failed,
            "in_hand": len(self._unfinished),
            "problem": self._problem,
        }

    def _rest(self, seconds: float, problem: str) -> None:
        """Wait out a problem that is not the records': said once in the log, and on the health page where it can be."""
        if problem != self._problem:
            log.warning("Not working: %s", problem)
            self._problem, self._beat_at = problem, 0.0
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.stopping:
            try:
                self.beat()
            except Exception:  # the heartbeat must not end the wait for a database that is away
                connection.close()
            time.sleep(0.2)

    def _end(self) -> None:
        self._sweeper.stop(timeout=10)
        try:
            self._give_back()
            if self._elected_as:
                leases.give_back(self._elected_as, self.holder)
            Lease.objects.filter(name=WORKER + self.holder).delete()
        except Exception:  # the database is away: the leases run out by themselves
            log.warning("Ending without a database; leases run out in a minute")
        connection.close()


def _is_trouble_of_the_database(error: Exception) -> bool:
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    locked = isinstance(error, OperationalError) and (is_retryable(error) or "locked" in str(error))
    return locked or not connection.is_usable()

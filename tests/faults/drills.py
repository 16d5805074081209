"""The drills: each does one kind of harm to real processes and reports what became of the writes.

Where a worker must be in a certain place, a failpoint puts it there; nothing is left to luck or to a fixed pause.
"""

from __future__ import annotations

import itertools
import secrets
import signal
import statistics
import threading
import time
from contextlib import closing, contextmanager

import MySQLdb

from tests.faults.calls import Writers, call
from tests.faults.oracle import Report
from tests.faults.servers import until

POISON = "POISON"  # what the planted encoder cannot bear
ATTEMPTS = 8
SLOW = 1.0
DEADLINE = 1.15  # a page that waited for a silent graph took longer, as graph.connection waits for 1.2 s
HANGS = 3.0


def writers(desk, agent, **options):
    return Writers(agent, str(desk.folder / f"acknowledged-{secrets.token_hex(4)}"), **options)


@contextmanager
def paused(desk, worker):
    """The ordinary worker looks away, so that the one of the drill gets the work.

    Before clients write: what is open then is the worker's, and stopped in a transaction it would lock its rows.
    """
    if worker is not None:
        until(lambda: _stopped_between_transactions(desk, worker), "the worker stops with nothing open")
    try:
        yield
    finally:
        if worker is not None:
            worker.resume()


def _stopped_between_transactions(desk, worker):
    worker.pause()
    try:
        until(lambda: not desk.open_transactions(), "the server's own transactions end", seconds=1)
    except AssertionError:
        worker.resume()
        return False
    return True


def drain(desk, report, seconds=60.0):
    """Everything reaches the graph, in time and without a person; else the report says what does not."""
    try:
        desk.drained(seconds)
    except AssertionError as error:
        report.problems.append(str(error))
    ((dead,),) = desk.mysql.ask("SELECT COUNT(*) FROM projection_marks WHERE dead")
    if dead:
        report.problems.append(f"{dead} records were given up")
    report.compare(desk)


def close(desk, report, writing, seconds=60.0):
    """The counts, once the clients have ended."""
    report.problems += writing.problems
    report.notes.append(f"answers by status {writing.statuses}, slowest {writing.slowest:.1f} s")
    drain(desk, report, seconds)
    report.count_writes(desk.mysql, writing.acknowledged)
    if 500 in writing.statuses:
        report.problems.append("a call was answered 500")
    return report


def worker_killed(desk, failpoints, ordinary=None):
    """kill -9 of a worker at each of the places, under writing clients; then an ordinary one does what is left."""
    report = Report(f"worker killed {', '.join(failpoints)}")
    agent = desk.new_project()
    if ordinary is not None:
        desk.drained()
    with paused(desk, ordinary), writers(desk, agent, count=2, pause=0.3) as writing:
        for failpoint in failpoints:
            worker = desk.start_worker(f"{failpoint}:kill")
            until(lambda: len(writing.acknowledged) > 8, "clients write")
            worker.killed_itself()
            if not desk.leased():
                report.problems.append(f"{failpoint}: the worker held nothing when it died")
            desk.cut_leases()
    if ordinary is None:
        desk.start_worker()
    return close(desk, report, writing)


def database_killed(desk, times, ordinary, before=None):
    """kill -9 of the database server under writing clients; web and worker processes live on.

    `before` is done to each server before clients write to it.
    """
    report = Report(f"database server killed {times} times")
    agent = desk.new_project()
    desk.drained()  # the worker is at work
    with writers(desk, agent, count=5) as writing:
        try:
            for _ in range(times):
                if before is not None:
                    before()
                enough = len(writing.acknowledged) + 25
                until(lambda: len(writing.acknowledged) >= enough, "clients write", seconds=40)  # noqa: B023
                desk.mysql.kill()
                desk.mysql.start()
            enough = len(writing.acknowledged) + 25
            until(lambda: len(writing.acknowledged) >= enough, "clients write again", seconds=40)
        except AssertionError as error:  # answers they cannot read have ended them all
            report.problems.append(str(error))
    close(desk, report, writing)
    if ordinary.popen.poll() is not None:
        report.problems.append(f"the worker ended: {ordinary.said[-500:]}")
    return report


def graph_away(desk, seconds, *, dead=False, worker=None, embeddings=True):
    """Neo4j silent (or dead and started again) under writing clients and people who read pages."""
    assert worker is None or worker.popen.poll() is None
    report = Report(f"Neo4j {'dead' if dead else 'silent'} for {seconds:g} s")
    agent = desk.new_project()
    first = agent.decide("Cache order totals in Redis")
    agent.decide("Cache order totals in Postgres")
    desk.drained()
    asking = [
        (f"/p/{agent.slug}/graph/?node={first}", agent.cookie),
        (f"/p/{agent.slug}/graph/data?node={first}", agent.cookie),
        (f"/api/v1/records/{first}/neighbourhood", agent.headers),
    ]
    usual = []
    for path, headers in asking * 2:  # the first time warms up
        usual.append(call(desk.port, "GET", path, headers=headers))
        assert usual[-1].status == 200, f"{path}: {usual[-1].status} {usual[-1].text[:300]}"
    with writers(desk, agent, count=2, pause=0.3) as writing:
        until(lambda: len(writing.acknowledged) > 4, "clients write")
        if dead:
            desk.neo4j.kill()
        else:
            desk.neo4j.pause()
        try:
            answers = _read_for(desk.port, asking, seconds, readers=3)
            seen = len(writing.acknowledged)
            ((behind,),) = desk.mysql.ask(
                "SELECT COUNT(*) FROM projection_marks WHERE next_try_at IS NOT NULL"
            )
            embedded = "next_try_at IS NOT NULL AND embedded_version = wanted_version"
            if embeddings:  # at the latest when the batch that was under way is given up, after half a minute
                until(
                    lambda: desk.mysql.ask(f"SELECT 1 FROM projection_marks WHERE {embedded}"),
                    "embeddings go on",
                    40,
                )
            ((blamed,),) = desk.mysql.ask(
                "SELECT COUNT(*) FROM projection_marks WHERE error IS NOT NULL OR dead"
            )
        except AssertionError as error:
            report.problems.append(str(error))
            blamed = 0
        finally:
            if dead:
                desk.neo4j.start()
            else:
                desk.neo4j.resume()
    times = [answer.seconds for answer in answers]
    usually = 2 * statistics.median(answer.seconds for answer in usual[3:])
    slow = [took for took in times if took > max(DEADLINE, usually)]
    banners = sum("answers instead" in answer.text for answer in answers)
    report.notes.append(
        f"{len(answers)} pages and reads meanwhile, p50 {statistics.median(times):.2f} s, slowest {max(times):.2f} s"
        f" (before: {usually / 2:.2f} s), {len(slow)} waited for the graph, {banners} with the banner;"
        f" {seen} writes acknowledged by then, {behind} behind"
    )
    if bad := {answer.status for answer in answers} - {200}:
        report.problems.append(f"pages answered {bad}")
    # Whoever asks a silent graph waits for its deadline of a second; that may be one now and then, not each.
    if max(times) > HANGS + 2 * usually or len(slow) > len(times) / 2:
        report.problems.append("pages hang while the graph is away")
    if writing.slowest > HANGS + 2 * usually:
        report.problems.append("writes hang while the graph is away")
    if not banners:
        report.problems.append("no page said that the graph is away")
    if blamed:
        report.problems.append(f"{blamed} records were blamed for the graph's absence")
    return close(desk, report, writing)


def _read_for(port, asking, seconds, readers):
    """The answers that so many readers at once get in that time."""
    ends_at = time.monotonic() + seconds
    answers = []

    def read(turn):
        while time.monotonic() < ends_at:
            path, headers = asking[turn % len(asking)]
            answers.append(call(port, "GET", path, headers=headers))
            turn += 1

    threads = [threading.Thread(target=read, args=(number,)) for number in range(readers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def poison(desk, ordinary):
    """One record that the encoder cannot bear, in one batch with others; `poison` is planted in its worker alone."""
    report = Report("a poison record")
    attempts = []
    agent = desk.new_project()
    desk.drained()
    with paused(desk, ordinary):
        good = [agent.decide(f"Cache order totals, shard {n}") for n in range(3)]
        bad = agent.decide(f"Cache the {POISON}")
        good += [agent.decide(f"Cache order totals, region {n}") for n in range(3)]
        worker = desk.start_worker(
            DJANGO_SETTINGS_MODULE="tests.faults.settings", FAULTS_PLANT="poison", FAULTS_MUTANT=desk.mutant
        )

        def marks(column):
            return dict(
                desk.mysql.ask(f"SELECT node_id, {column} FROM projection_marks WHERE node_id LIKE 'dec%%'")
            )

        try:
            blamed = set()

            def others_are_done():
                blamed.update(
                    node_id for node_id, error in marks("error").items() if error and node_id != bad
                )
                return all(marks("next_try_at")[node_id] is None for node_id in good)

            until(others_are_done, "the others go on", 30)
            if blamed:
                report.problems.append(f"others were blamed with it: {sorted(blamed)}")
            until(lambda: marks("error")[bad], "its error is written down", 30)
            attempts.append(marks("attempts")[bad])
            while not marks("dead")[bad] and len(attempts) < 2 * ATTEMPTS:
                now = "next_try_at = UTC_TIMESTAMP(6)"  # as if the pause were over
                desk.mysql.ask(f"UPDATE projection_marks SET {now} WHERE attempts > 0 AND NOT dead")
                until(lambda: marks("attempts")[bad] != attempts[-1], "it is tried, and that is counted", 15)
                until(lambda: marks("lease_token")[bad] is None, "it is given back", 15)
                attempts.append(marks("attempts")[bad])
            if not marks("dead")[bad] or attempts[-1] != ATTEMPTS:
                report.problems.append(f"it never ended dead: attempts {attempts}")
            elif POISON not in marks("error")[bad]:
                report.problems.append(f"its error is not told: {marks('error')[bad]}")
            # The others are done while it is dead, and what is written now is, too.
            late = agent.decide("Written after it died")
            until(lambda: marks("next_try_at")[late] is None, "what is written later goes on", 30)
        except AssertionError as error:
            report.problems.append(str(error))
        worker.destroy()
        desk.cut_leases()
    desk.run("from records.marks import want_again\nwant_again([node_id])", node_id=bad)
    drain(desk, report)
    report.notes.append(f"attempts {attempts}, then dead; revived by asking again")
    return report


def killer(desk):
    """A record on which the worker's process dies: it is given up after so many processes, the others go on."""
    report = Report("a record that kills its worker")
    agent = desk.new_project()
    good = [agent.decide(f"Cache order totals, shard {n}") for n in range(3)]
    bad = agent.decide(f"Cache the {POISON}")
    deaths = 0

    def dead():
        return desk.mysql.ask("SELECT dead FROM projection_marks WHERE node_id = %s", bad)[0][0]

    while not dead() and deaths < 2 * ATTEMPTS:
        worker = desk.start_worker(
            DJANGO_SETTINGS_MODULE="tests.faults.settings", FAULTS_PLANT="killer", FAULTS_MUTANT=desk.mutant
        )
        until(lambda: dead() or worker.popen.poll() is not None, "the worker dies, or gives the record up")  # noqa: B023
        if worker.popen.poll() is None:
            until(lambda: desk.waiting() == 0, "the others go on")
            worker.destroy()
        else:
            deaths += 1
            desk.cut_leases()
    left = desk.mysql.ask("SELECT node_id FROM projection_marks WHERE next_try_at IS NOT NULL AND NOT dead")
    report.notes.append(f"{deaths} processes died, then it was given up")
    if deaths > ATTEMPTS or not dead() or left:
        report.problems.append(f"{deaths} processes died; left over {left}; {len(good)} others")
    desk.mysql.ask(
        "UPDATE projection_marks SET next_try_at = UTC_TIMESTAMP(6), dead = 0, attempts = 0 WHERE dead"
    )
    desk.start_worker()
    drain(desk, report)
    return report


def stale_workers(desk, ordinary):
    """Two workers are paused past their lease, another does their work and more; what they do then changes nothing."""
    report = Report("stale workers")
    agent = desk.new_project()
    desk.drained()
    stale, records = [], []
    with paused(desk, ordinary):
        for place in ("after-embedding", "embedding"):
            records.append([agent.decide(f"Cache order totals {place} {n}") for n in range(3)])
            # Its sweep, too, would hold still in the middle.
            stale.append(desk.start_worker(f"{place}:stop", SWEEP_SECONDS="3600"))
            stale[-1].holds_still()
        desk.cut_leases()
        # Meanwhile one record of each is edited, one deleted by plain SQL, one left as it is.
        for edited, deleted, _left in records:
            body = {
                "title": "Renamed",
                "decision": "Something else entirely: use a ledger.",
                "reason": "newer",
            }
            agent.write("PATCH", f"/decisions/{edited}", body, If_Match="*")
            desk.mysql.ask("DELETE FROM architecture_decisions WHERE id = %s", deleted.partition("_")[2])
    deleted = [some[1] for some in records]
    try:
        until(
            lambda: (
                len(
                    desk.mysql.ask(
                        "SELECT 1 FROM projection_marks WHERE gone AND node_id IN (%s, %s)", *deleted
                    )
                )
                == 2
            ),
            "the sweep has seen the deletions",
        )
        desk.drained()
    except AssertionError as error:
        report.problems.append(str(error))
    before = _all_of(desk)
    for worker in stale:
        worker.resume()
        # It ends when what it had in hand is through its hands.
        if (code := worker.end(40)) != 0:
            report.problems.append(f"a stale worker ended with {code}")
    report.problems += [f"changed by a stale worker: {what}" for what in _changed(before, _all_of(desk))]
    drain(desk, report)
    shown = [
        node_id
        for (node_id,) in desk.neo4j.ask("MATCH (n:Decision) WHERE n.id IN $ids RETURN n.id", ids=deleted)
    ]
    if shown:
        report.problems.append(f"tombstones were revived: {shown}")
    return report


def _all_of(desk):
    """Everything that a worker writes, by what it is about."""
    marks = "SELECT node_id, wanted_version, embedded_version, projected_version, next_try_at, dead, gone FROM projection_marks"
    vectors = "SELECT CONCAT(node_id, ' part ', part), content_hash, SHA2(vector, 256) FROM embeddings"
    nodes = "MATCH (n:Record) RETURN 'node ' + n.id, n.title, n.version, n.gone, n.embedding_of, labels(n)"
    rows = [*desk.mysql.ask(marks), *desk.mysql.ask(vectors), *desk.neo4j.ask(nodes)]
    return {row[0]: row[1:] for row in rows}


def _changed(before, after):
    return sorted(what for what in before.keys() | after.keys() if before.get(what) != after.get(what))


def nothing_is_locked(desk, ordinary, place):
    """A worker held at a place of its work: no transaction is open, and a person's save waits for nothing.

    Then it is asked to end, and gives back what it had in hand.
    """
    report = Report(f"a worker held {place}")
    agent = desk.new_project()
    if ordinary is not None:
        desk.drained()
    with paused(desk, ordinary):
        records = [agent.decide(f"Cache order totals, shard {n}") for n in range(3)]
        # Its sweep, too, would hold still in the middle.
        worker = desk.start_worker(f"{place}:stop", SWEEP_SECONDS="3600")
        worker.holds_still()
        held = desk.leased()
        if held < len(records):
            report.problems.append(f"it holds {held} marks")
        open_ones = desk.open_transactions()
        if open_ones:
            report.problems.append(f"transactions are open while it works: {open_ones}")
        with closing(desk.mysql.connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute("SET innodb_lock_wait_timeout = 1")
            try:
                for table in (
                    "projection_marks",
                    "architecture_decisions",
                    "embeddings",
                    "similarities",
                    "worker_leases",
                ):
                    cursor.execute(f"SELECT 1 FROM {table} FOR UPDATE")
            except MySQLdb.OperationalError as error:
                report.problems.append(f"a row is locked: {error}")
        saved = agent.send("PATCH", f"/decisions/{records[0]}", {"title": "Saved meanwhile"}, If_Match="*")
        report.notes.append(f"a save took {saved.seconds * 1000:.0f} ms")
        if saved.status != 200 or saved.seconds > SLOW:
            report.problems.append(f"a person's save was answered {saved.status} after {saved.seconds:.1f} s")
        worker.send(signal.SIGTERM)
        worker.resume()
        try:
            code = worker.popen.wait(20)
            if code or desk.leased() or "nothing is left half done" not in worker.said:
                report.problems.append(
                    f"it ended with {code} and left {desk.leased()} claims: {worker.said[-500:]}"
                )
        except Exception as error:
            report.problems.append(f"it does not end: {error}")
            worker.destroy()
            desk.cut_leases()
    if ordinary is None:
        desk.start_worker()
    drain(desk, report)
    return report


class Visitor(threading.Thread):
    """Somebody who browses and calls; each failure is tried once more, at once."""

    def __init__(self, desk, agent, number, addresses):
        super().__init__(daemon=True)
        self._desk, self._agent, self._addresses, self._number = desk, agent, addresses, number
        self.done = self.failed = 0
        self.failed_twice = []
        self.unkind = set()  # failures that do not say: try again
        self.acknowledged = []
        self.stopping = False

    def run(self):
        turn = self._number
        while not self.stopping:
            turn += 1
            key = secrets.token_hex(16)
            ask = self._asking(turn, key)
            answer = ask()
            if not self._is_good(answer):
                self.failed += 1
                if answer.status != 503:
                    self.unkind.add(f"{answer.status} {answer.text[:60]}")
                answer = ask()
            if not self._is_good(answer):
                self.failed_twice.append(f"{answer.status} {answer.text[:60]}")
            elif turn % 4 == 0:
                self.acknowledged.append(("decision", key, answer.data["node_id"]))
            self.done += 1

    def _asking(self, turn, key):
        if turn % 4 == 0:
            body = {"title": key, "decision": "Cache order totals."}
            return lambda: self._agent.send("POST", "/decisions", body, Idempotency_Key=key)
        path, headers = self._addresses[turn % len(self._addresses)]
        return lambda: call(self._desk.port, "GET", path, headers=headers)

    @staticmethod
    def _is_good(answer):
        return 200 <= answer.status < 300


def connections_killed(desk, rounds, ordinary=None):
    """KILL of every database connection, again and again, under people who browse and agents who call.

    The web processes are held for that moment: a call's second try is not hit by what is left of the same blow.
    """
    report = Report(f"every database connection killed {rounds} times")
    agent = desk.new_project()
    first = agent.decide("Cache order totals in Redis")
    addresses = [
        (f"/p/{agent.slug}/decisions/", agent.cookie),
        (f"/api/v1/decisions/{first}", agent.headers),
        (f"/p/{agent.slug}/", agent.cookie),
        (f"/p/{agent.slug}/decisions/{first.partition('_')[2]}/", agent.cookie),
        ("/api/v1/decisions?page_size=5", agent.headers),
    ]
    for path, headers in addresses:
        assert call(desk.port, "GET", path, headers=headers).status == 200, path
    visitors = [Visitor(desk, agent, number, addresses) for number in range(6)]
    for visitor in visitors:
        visitor.start()
    killed = 0
    for _ in range(rounds):
        with desk.web.held():
            killed += desk.mysql.kill_connections()
        # The next comes when all have gone on since: it cannot hit the second try of a call that the last one hit.
        enough = {visitor: visitor.done + 4 for visitor in visitors}
        until(lambda: all(visitor.done >= enough[visitor] for visitor in visitors), "all go on", 60)  # noqa: B023
    for visitor in visitors:
        visitor.stopping = True
    for visitor in visitors:
        visitor.join(60)
    report.notes.append(
        f"{sum(visitor.done for visitor in visitors)} calls, {killed} connections killed,"
        f" {sum(visitor.failed for visitor in visitors)} calls failed once,"
        f" {sum(len(visitor.failed_twice) for visitor in visitors)} twice"
    )
    for visitor in visitors:
        report.problems += [f"a call failed twice: {what}" for what in visitor.failed_twice]
        report.problems += [f"a call failed with {what}" for what in visitor.unkind]
    drain(desk, report)
    report.count_writes(desk.mysql, [one for visitor in visitors for one in visitor.acknowledged])
    if ordinary is not None and ordinary.popen.poll() is not None:
        report.problems.append("the worker ended")
    return report


def calls_cut(desk, proxy, *, outcomes=False):
    """The connection to MySQL ends at each statement of a write in turn, heard or not; then the same key again.

    And so without a key: whoever is told that it failed may find it done, but never done twice.
    """
    report = Report("a call's connection cut at each of its statements")
    agent = desk.new_project()
    decision = agent.decide("Cache order totals")
    acts = [("vote", f"/patterns/{agent.pattern}/worked", {}, "note")]
    if outcomes:
        acts += [
            ("outcome", f"/decisions/{decision}/outcomes", {"type": "success"}, "note"),
            ("decision", "/decisions", {"decision": "Cache order totals."}, "title"),
        ]
    acknowledged, failed, cuts = [], 0, 0
    ways = [(True, False), (True, True), (False, True)]
    for (what, path, body, named), (keyed, heard) in itertools.product(acts, ways):
        for statement in range(1, 200):
            key = secrets.token_hex(16)
            header = {"Idempotency_Key": key} if keyed else {}
            proxy.cut_at(statement, heard=heard)
            answer = agent.send("POST", path, body | {named: key}, **header)
            if not proxy.has_cut:  # the call has fewer statements than that
                proxy.cut_at(0, heard=False)
                if answer.status not in (200, 201) or statement < 10:
                    report.problems.append(
                        f"uncut at {statement}: answered {answer.status} {answer.text[:200]}"
                    )
                break
            cuts += 1
            place = f"{what}, {'with a' if keyed else 'without'} key, statement {statement}"
            if answer.status not in (200, 201):
                failed += 1
                if answer.status != 503:
                    report.problems.append(f"{place}: answered {answer.status} {answer.text[:200]}")
                if not keyed:
                    continue
                answer = agent.write("POST", path, body | {named: key}, key=key)
            if answer.text in ("", "None"):
                report.problems.append(f"{place}: the answer is empty")
            else:
                acknowledged.append((what, key, answer.data["node_id"]))
        else:
            raise AssertionError("a call of more than 200 statements")
    report.notes.append(f"{cuts} cuts, {failed} calls failed")
    report.count_writes(desk.mysql, acknowledged)
    return report

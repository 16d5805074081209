"""Harm to workers: killed, paused past their lease, or given a record that they cannot bear."""

from __future__ import annotations

import signal
from contextlib import closing

import MySQLdb

from tests.faults.drills import close, drain, paused, writers
from tests.faults.oracle import Report
from tests.faults.servers import until

POISON = "POISON"  # what the planted encoder cannot bear
ATTEMPTS = 8
SLOW = 1.0


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

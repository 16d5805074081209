"""Harm to the servers: MySQL killed, Neo4j silent or dead, while clients write and people read."""

from __future__ import annotations

import statistics
import threading
import time

from tests.faults.calls import call
from tests.faults.drills import close, writers
from tests.faults.oracle import Report
from tests.faults.servers import until

DEADLINE = 1.15  # a page that waited for a silent graph took longer, as graph.connection waits for 1.2 s
HANGS = 3.0


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

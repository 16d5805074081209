"""What the drills share: clients that write, the worker that looks away, and the counts at the end.

Each drill does one kind of harm to real processes and reports what became of the writes. Where a worker must be in a
certain place, a failpoint puts it there; nothing is left to luck or to a fixed pause.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager

from tests.faults.calls import Writers
from tests.faults.servers import until


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

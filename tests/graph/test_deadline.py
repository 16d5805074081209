"""Work for the graph is done in another thread with a deadline; threads are used again, and a stuck one holds nobody up."""

import os
import threading
import time

import pytest

from graph import connection
from graph.connection import within_time


@pytest.fixture(autouse=True)
def no_threads(monkeypatch):
    monkeypatch.setattr(connection, "_idle", [])


def until_idle(count):
    until = time.monotonic() + 5
    while len(connection._idle) < count and time.monotonic() < until:
        time.sleep(0.001)
    assert len(connection._idle) == count


def test_one_thread_does_one_work_after_another_whether_it_fails_or_not():
    def refuse():
        raise LookupError("dec_1")

    first = within_time(threading.get_ident, 5)
    with pytest.raises(LookupError, match="dec_1"):
        within_time(refuse, 5)
    assert within_time(threading.get_ident, 5) == first != threading.get_ident()
    until_idle(1)


def test_a_late_work_is_not_waited_for_and_its_answer_is_nobody_elses():
    ended = threading.Event()
    with pytest.raises(TimeoutError):
        within_time(lambda: ended.wait(5) and "late", 0.05)
    assert [within_time(lambda at=at: at, 5) for at in range(3)] == [0, 1, 2]
    ended.set()
    until_idle(2)  # the late one has come back
    assert [within_time(lambda at=at: at, 5) for at in range(4)] == [0, 1, 2, 3]


def test_work_of_many_at_once_is_done_side_by_side_by_few_threads_afterwards(monkeypatch):
    monkeypatch.setattr(connection, "POOL", 2)
    together = threading.Barrier(4, timeout=5)
    askers = [threading.Thread(target=within_time, args=(together.wait, 5)) for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert not together.broken
    until_idle(2)


def test_a_forked_child_has_threads_of_its_own():
    within_time(int, 5)
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if within_time(lambda: 7, 5) == 7 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

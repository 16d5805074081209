"""A write that was answered survives any crash, is in the history, is applied once, and reaches the graph by itself."""

import pytest

from tests.faults import call_drills, server_drills, worker_drills

pytestmark = pytest.mark.faults
KILLED_AT = ("after-claim", "after-embedding", "after-graph-write", "before-ack")


def test_a_worker_killed_anywhere_loses_nothing(desk, kept):
    kept(worker_drills.worker_killed(desk, KILLED_AT, desk.worker))


def test_the_database_server_killed_four_times_loses_nothing_and_applies_nothing_twice(desk, kept):
    kept(server_drills.database_killed(desk, 4, desk.worker))


def test_a_silent_graph_holds_nobody_up_and_catches_up(desk, kept):
    kept(server_drills.graph_away(desk, 5, embeddings=False))


def test_a_poison_record_backs_off_alone_and_ends_dead_until_it_is_asked_for_again(desk, kept):
    kept(worker_drills.poison(desk, desk.worker))


def test_what_stale_workers_do_changes_nothing(desk, kept):
    kept(worker_drills.stale_workers(desk, desk.worker))


@pytest.mark.parametrize("place", ["embedding", "in-graph-transaction"])
def test_nothing_is_locked_while_a_worker_works_and_it_ends_when_asked(desk, kept, place):
    kept(worker_drills.nothing_is_locked(desk, desk.worker, place))


def test_no_call_fails_twice_when_every_connection_is_killed(desk, kept):
    kept(call_drills.connections_killed(desk, 6, desk.worker))


def test_a_call_cut_off_from_the_database_at_any_statement_is_applied_once(cut_desk, kept):
    kept(call_drills.calls_cut(cut_desk, cut_desk.proxy))


def test_the_worker_lived_through_all_of_it(desk):
    assert desk.worker.popen.poll() is None
    assert desk.worker.end() == 0
    assert desk.leased() == 0
    assert "nothing is left half done" in desk.worker.said
    desk.worker = desk.start_worker()  # for the drills of other files

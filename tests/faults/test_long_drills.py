"""The drills at length: every failpoint by itself, Neo4j away for a minute, a record that kills its worker."""

import pytest

from graph.failpoints import NAMES
from tests.faults import call_drills, server_drills, worker_drills
from tests.faults.drills import paused

pytestmark = [pytest.mark.faults, pytest.mark.slow]


@pytest.mark.parametrize("failpoint", NAMES)
def test_a_worker_killed_at_each_place_in_turn(desk, kept, failpoint):
    kept(worker_drills.worker_killed(desk, [failpoint], desk.worker))


def test_neo4j_silent_for_a_minute(desk, kept):
    kept(server_drills.graph_away(desk, 60))


def test_neo4j_killed_and_started_again_a_minute_later(desk, kept):
    kept(server_drills.graph_away(desk, 60, dead=True))


def test_connections_killed_many_times(desk, kept):
    kept(call_drills.connections_killed(desk, 30, desk.worker))


def test_each_statement_of_three_writes_cut(cut_desk, kept):
    kept(call_drills.calls_cut(cut_desk, cut_desk.proxy, outcomes=True))


def test_a_record_that_kills_its_worker_is_given_up_and_the_others_go_on(desk, kept):
    with paused(desk, desk.worker):
        kept(worker_drills.killer(desk))

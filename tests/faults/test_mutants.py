"""Each drill notices the mutant that it is there for: with that one thing left out of our code it reports a breach."""

import sys

import pytest

from tests.faults import call_drills, server_drills, worker_drills
from tests.faults.conftest import desk_behind_a_proxy
from tests.faults.desk import Desk
from tests.faults.mutants import MUTANTS

pytestmark = [pytest.mark.faults, pytest.mark.slow]

# The drills, and the mutants that each is there for. Those of the first are of the worker; the web server is ordinary.
OF_THE_WORKER = [
    (lambda desk: worker_drills.worker_killed(desk, ["after-claim"]), ["acknowledged-when-claimed"]),
    (
        lambda desk: worker_drills.worker_killed(desk, ["after-embedding"]),
        ["acknowledged-before-the-graph-write"],
    ),
    (
        lambda desk: worker_drills.worker_killed(desk, ["graph-half-written"]),
        ["acknowledged-when-nodes-are-written"],
    ),
    (
        lambda desk: worker_drills.worker_killed(desk, ["after-graph-write", "before-ack"]),
        ["relations-made-anew"],
    ),
    (
        lambda desk: worker_drills.stale_workers(desk, desk.start_worker()),
        ["lease-not-checked", "no-version-guard"],
    ),
    (lambda desk: worker_drills.nothing_is_locked(desk, None, "embedding"), ["works-in-a-transaction"]),
    (lambda desk: worker_drills.nothing_is_locked(desk, None, "after-claim"), ["claims-kept-at-the-end"]),
    (
        lambda desk: worker_drills.poison(desk, desk.start_worker()),
        ["attempts-never-counted", "a-batch-fails-together"],
    ),
    (
        lambda desk: server_drills.database_killed(desk, 1, desk.start_worker()),
        ["worker-ends-with-the-database"],
    ),
    (
        lambda desk: server_drills.graph_away(desk, 5, worker=desk.start_worker()),
        ["the-graphs-absence-blamed-on-records"],
    ),
]
# All processes are mutants.
OF_ALL = [
    (lambda desk: call_drills.connections_killed(desk, 6), ["connections-never-checked"]),
    (lambda desk: server_drills.graph_away(desk, 8), ["no-breaker", "no-deadline"]),
    (lambda desk: server_drills.database_killed(desk, 4, desk.worker), ["key-outside-the-transaction"]),
    # A kill has to meet a call between its commit and its answer: about one in three does.
    (lambda desk: server_drills.database_killed(desk, 12, desk.worker), ["keys-not-kept"]),
]
# The web server is the mutant, behind the proxy.
OF_CALLS = [
    "key-outside-the-transaction",
    "keys-not-kept",
    "answered-before-the-commit",
    "a-lost-connection-is-tried-again",
]
NONE = ""  # once without a mutant: what is reported otherwise is the mutant's doing


def each(drills_and_mutants):
    """(drill, mutant) of all, led by the first drill without any; test_drills runs the others so."""
    first, _ = drills_and_mutants[0]
    pairs = [(drill, mutant) for drill, mutants in drills_and_mutants for mutant in mutants]
    return [
        pytest.param(drill, mutant, id=mutant or "no-mutant") for drill, mutant in [(first, NONE), *pairs]
    ]


def test_no_mutant_is_left_out():
    named = {mutant for _drill, mutants in OF_THE_WORKER + OF_ALL for mutant in mutants} | set(OF_CALLS)
    assert named == set(MUTANTS)


@pytest.fixture
def judge(capsys):
    """A drill of a mutant must report something wrong, the same drill without one nothing."""

    def tell(mutant, report):
        with capsys.disabled():
            said = "; ".join(report.wrong)[:300] or "NOTHING WRONG"
            sys.stdout.write(f"\n  {mutant or 'no mutant'}: {said}\n    {report}\n")
        assert bool(report.wrong) == bool(mutant)

    return tell


@pytest.fixture
def clean(ready, tmp_path):
    """Databases without a record, before and after: a mutant leaves them apart."""
    desk = Desk(*ready, tmp_path)
    desk.forget_everything()
    yield ready
    desk.forget_everything()


@pytest.fixture(scope="module")
def ordinary_web(desk):
    """The ordinary desk without its worker, which would mend what a mutant breaks."""
    desk.worker.destroy()
    return desk


@pytest.mark.parametrize(("drill", "mutant"), each(OF_THE_WORKER))
def test_a_mutant_of_the_worker_is_noticed(ordinary_web, clean, tmp_path, drill, mutant, judge):
    desk = Desk(*clean, tmp_path, mutant=mutant)
    desk.port, desk.web = ordinary_web.port, ordinary_web.web
    try:
        judge(mutant, drill(desk))
    finally:
        desk.end()


@pytest.mark.parametrize(("drill", "mutant"), each(OF_ALL))
def test_a_mutant_of_all_processes_is_noticed(ordinary_web, clean, tmp_path, drill, mutant, judge):
    desk = Desk(*clean, tmp_path, mutant=mutant)
    try:
        desk.worker = desk.start_worker()
        desk.start_web()
        judge(mutant, drill(desk))
    finally:
        desk.end()


@pytest.mark.parametrize("mutant", OF_CALLS)
def test_a_mutant_of_the_calls_is_noticed(ordinary_web, clean, tmp_path, mutant, judge):
    with desk_behind_a_proxy(clean, tmp_path, mutant=mutant) as desk:
        judge(mutant, call_drills.calls_cut(desk, desk.proxy))


def test_a_database_that_does_not_flush_is_noticed(ordinary_web, clean, tmp_path, judge):
    """No mutant of ours, but the count of what is lost counts."""
    desk = Desk(*clean, tmp_path)
    desk.port, desk.web = ordinary_web.port, ordinary_web.web

    def careless():
        desk.mysql.as_root("SET GLOBAL innodb_flush_log_at_trx_commit = 0; SET GLOBAL sync_binlog = 0")

    try:
        report = server_drills.database_killed(desk, 4, desk.start_worker(), careless)
        assert report.lost
        judge("a database that does not flush", report)
    finally:
        desk.end()
        desk.mysql.kill()  # and with it, what it was told
        desk.mysql.start()

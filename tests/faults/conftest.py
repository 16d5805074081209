"""One MySQL, one Neo4j and one desk on them for all drills of a run."""

from __future__ import annotations

import sys
from contextlib import contextmanager

import pytest

from tests.faults.desk import Desk
from tests.faults.proxy import CuttingProxy
from tests.faults.servers import Lacking, own_servers


@pytest.fixture(scope="session")
def servers():
    """Both servers, started where they do not run; those that were started here are stopped at the end."""
    both = own_servers()
    try:
        for server in both:
            server.start()
    except Lacking as lacking:
        pytest.skip(f"needs servers that it may kill: {lacking}")
    both[0].create()
    yield both
    for server in both:
        server.leave()


@pytest.fixture(scope="session")
def ready(servers, tmp_path_factory):
    """Both databases with their schema and without a record."""
    desk = Desk(*servers, tmp_path_factory.mktemp("setup"))
    desk.manage("migrate", "--verbosity", "0")
    desk.manage("graph_setup")
    desk.forget_everything()
    return servers


@pytest.fixture(scope="session")
def desk(ready, tmp_path_factory):
    """The desk as it is in production; its web server and its one ordinary worker live through all drills."""
    desk = Desk(*ready, tmp_path_factory.mktemp("desk"))
    desk.worker = desk.start_worker()
    desk.start_web()
    yield desk
    desk.end()


@contextmanager
def desk_behind_a_proxy(servers, folder, **options):
    """A desk whose web server reaches MySQL through a proxy that can cut it off."""
    made = Desk(*servers, folder, WEB_PROCESSES="1", WEB_THREADS="2", **options)
    made.proxy = CuttingProxy(made.mysql.port)
    try:
        url = made.mysql.url.replace(f":{made.mysql.port}/", f":{made.proxy.port}/")
        made.start_web(DATABASE_URL=url)
        yield made
    finally:
        made.end()
        made.proxy.close()


@pytest.fixture
def cut_desk(ready, tmp_path):
    with desk_behind_a_proxy(ready, tmp_path) as made:
        yield made


@pytest.fixture
def kept(capsys):
    """Prints a report and asserts that no promise was broken."""

    def judge(report):
        with capsys.disabled():
            sys.stdout.write(f"\n  {report}\n")
        assert not report.wrong, f"{report}\n" + "\n".join(report.wrong)

    return judge

"""The real servers that the test suites run against, on one machine, on 127.0.0.1.

    services start                       install what is missing, start, wait until all answer
    services start mysql mariadb         only these
    services start mysql --instance tz --time-zone +05:30 --port 3398
    services start neo4j --instance bench --port 7690
    services status | stop | install     the same names, or none for all
    eval "$(services env)"               TEST_MYSQL_URL, TEST_MARIADB_URL, … of what is installed

Exit codes: 0 done, 1 a step failed, 2 wrong usage, 3 this machine lacks something (root, apt, …).
"""

import argparse
import contextlib
import fcntl
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import machine
from chromium_browser import Chromium
from mariadb_server import MariaDB
from mysql_server import MySQL
from mysqlclient_build import MySQLClientBuild
from neo4j_server import Neo4j
from service import Server, Service

SERVERS: dict[str, Callable[[], Server]] = {
    "mysql": MySQL,
    "mysql-tz": lambda: MySQL("tz"),
    "mariadb": MariaDB,
    "neo4j": Neo4j,
}
INSTANCES: dict[str, Callable[[str], Server]] = {"mysql": MySQL, "neo4j": Neo4j}
NAMES: dict[str, Callable[[], Service]] = {
    **SERVERS,
    "chromium": Chromium,
    "mysqlclient": MySQLClientBuild,
}


def chosen_services(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> list[Service]:
    """The services named on the command line, all of them when none is."""
    if unknown := [name for name in arguments.names if name not in NAMES]:
        parser.error(f"no service is called {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if not (arguments.instance or arguments.port or arguments.time_zone):
        return [NAMES[name]() for name in arguments.names or NAMES]
    if len(arguments.names) != 1:
        parser.error("--instance, --port and --time-zone go with exactly one service")
    name = arguments.names[0]
    if name == "mysql-tz" and not arguments.instance:
        name, arguments.instance = "mysql", "tz"
    if name not in SERVERS:
        parser.error(f"{name} has no port")
    if name != "mysql" and arguments.time_zone:
        parser.error("--time-zone is for mysql")
    if arguments.instance and name not in INSTANCES:
        parser.error(f"--instance is for {' and '.join(INSTANCES)}")
    server = INSTANCES[name](arguments.instance) if arguments.instance else SERVERS[name]()
    server.ask_for(port=arguments.port, time_zone=arguments.time_zone)
    return [server]


def install(services: list[Service]) -> list[machine.Failure]:
    """Install what is missing; returns what went wrong.

    Debian packages go into as few apt calls as can be, for apt takes one lock; what a service
    fetches by itself (a chroot, say) runs beside the second, longer call.
    """
    absent = [service for service in services if not service.is_installed()]
    beside_apt = [service for service in absent if service.installs_beside_apt]
    after_apt = [service for service in absent if not service.installs_beside_apt]
    failures, installations = [], []
    with ThreadPoolExecutor(max_workers=8) as pool:
        for group in (beside_apt, after_apt):
            try:
                machine.apt_install(group)
            except machine.Failure as failure:
                failures.append(failure)
            ready = [service for service in group if not service.missing_packages()]
            installations += [pool.submit(timed, service, service.install) for service in ready]
    return failures + [failed for done in installations if (failed := done.result())]


def start(services: list[Service]) -> list[machine.Failure]:
    failures = install(services)
    return failures + for_each([service for service in services if service.is_installed()], "start")


def for_each(services: list[Service], verb: str) -> list[machine.Failure]:
    """The same verb on all services at once; returns what went wrong."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        return [failure for failure in pool.map(lambda s: timed(s, getattr(s, verb)), services) if failure]


def timed(service: Service, step: Callable[[], str]) -> machine.Failure | None:
    """Do a step, and say what it did and how long that took."""
    began = time.monotonic()
    try:
        if outcome := step():
            machine.say(f"{service.name}: {outcome} ({time.monotonic() - began:.1f} s)")
    except machine.Failure as failure:
        failure.args = (f"{service.name}: {failure}",)
        return failure
    return None


@contextlib.contextmanager
def exclusively() -> Iterator[None]:
    """One `services` command at a time: two would install into the same folders."""
    machine.STATE.mkdir(parents=True, exist_ok=True)
    with open(machine.STATE / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            machine.say("waiting for another `services` command to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["install", "start", "stop", "status", "env"])
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(NAMES))
    parser.add_argument(
        "--instance", help="a further server from the same install (mysql, neo4j), with data of its own"
    )
    parser.add_argument("--port", type=int)
    parser.add_argument("--time-zone", help="such as +05:30; the servers run in UTC otherwise")
    arguments = parser.parse_args()
    services = chosen_services(parser, arguments)

    if arguments.command == "env":
        for service in services:
            for name, value in service.environment().items():
                sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
    elif arguments.command == "status":
        for service in services:
            sys.stdout.write(f"{service.name:12} {service.status()}\n")
    else:
        with exclusively():
            if arguments.command == "install":
                failures = install(services)
            elif arguments.command == "start":
                failures = start(services)
            else:
                failures = for_each(services, "stop")
        for failure in failures:
            machine.say(str(failure))
        # A step that broke weighs more than a machine that lacks something.
        return min((failure.exit_code for failure in failures), default=0)
    return 0

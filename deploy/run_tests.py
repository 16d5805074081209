"""Runs the test suites one after the other and closes with a table and the total.

Standard library only: it makes the environment of the tests and starts their servers itself.
A suite whose server cannot be had on this machine is left out by name; with CI=true that is a failure.
"""

import argparse
import os
import shlex
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
RESULTS = TOP / "var" / "test-results"
SERVICES = [sys.executable, str(TOP / "deploy/services/services")]
SECONDS_A_SUITE = {False: 40 * 60, True: 120 * 60}  # without and with the slow tests
MACHINE_LACKS_IT = 3  # exit code of `services`
ON_CI = os.environ.get("CI", "").lower() in {"1", "true"}


@dataclass(frozen=True)
class Need:
    """A service of a suite."""

    service: str  # started, unless the variable is set already
    url: str  # the variable with which it is found
    passed_as: str  # the setting that takes that URL


@dataclass(frozen=True)
class Suite:
    """One run of pytest: which tests, and against what."""

    name: str
    marked: str  # pytest's -m expression
    needs: tuple[Need, ...] = ()
    workers: int = 0  # processes of pytest-xdist; 0: none
    beside: bool = False  # one process that mostly waits: it runs beside the suites before it
    slow: str = "slow"  # what of it only --slow runs


MYSQL = Need("mysql", "TEST_MYSQL_URL", "DATABASE_URL")
MYSQL_TZ = Need("mysql-tz", "TEST_MYSQL_TZ_URL", "DATABASE_URL")
MARIADB = Need("mariadb", "TEST_MARIADB_URL", "DATABASE_URL")
NEO4J = Need("neo4j", "TEST_NEO4J_URL", "GRAPH_URL")
CHROMIUM = Need("chromium", "CHROMIUM", "CHROMIUM")

SUITES = [
    Suite("sqlite", "not browser and not graph and not faults", workers=2),
    # Pages and doors stand on SQL that `database` tries: on MySQL, too, where there is time.
    Suite("mysql", "(database or mysql) and not graph", (MYSQL,), workers=2, slow="slow or mysql"),
    Suite("mysql-tz", "zone", (MYSQL_TZ,)),
    Suite("mariadb", "database and not graph", (MARIADB,), workers=2),
    Suite("graph", "graph", (NEO4J, MYSQL), beside=True),
    Suite("browser", "browser", (CHROMIUM,)),  # Chromium has processes of its own
    # It needs both installed, and starts instances of its own, to kill them.
    Suite("faults", "faults", (NEO4J, MYSQL)),
]

CHECKS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy", "."],
    "import-linter": ["lint-imports"],
    "migrations": ["python", "manage.py", "makemigrations", "--check", "--dry-run"],
}


@dataclass
class Outcome:
    """What became of a suite; `left_out` says why it did not run."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    left_out: str = ""
    broken: str = ""

    @property
    def ran_nothing(self) -> bool:
        return not self.passed + self.failed

    @property
    def good(self) -> bool:
        return not (self.failed or self.broken or (ON_CI and (self.left_out or self.ran_nothing)))


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def start_services(names: list[str]) -> dict[str, tuple[int, str]]:
    """Start the services together; then, of each, the exit code and what it had to say."""
    if names:
        subprocess.run([*SERVICES, "start", *names], stdin=subprocess.DEVNULL, check=False)
    states = {}
    for name in names:  # at once where it runs; else it says again what is missing
        done = subprocess.run(
            [*SERVICES, "start", name], stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        states[name] = (done.returncode, done.stderr.strip().removeprefix(f"{name}: "))
    return states


def service_environment() -> dict[str, str]:
    """What `services env` prints, as a dictionary."""
    printed = subprocess.run([*SERVICES, "env"], capture_output=True, text=True, check=True).stdout
    exports = (shlex.split(line)[1].partition("=") for line in printed.splitlines())
    return {name: value for name, _, value in exports}


def brings_its_own(need: Need) -> bool:
    """Whether the caller's environment names a server that is not one of ours."""
    given = os.environ.get(need.url)
    return given is not None and given != service_environment().get(need.url)


def run_lint(venv: Path) -> Outcome:
    outcome = Outcome("lint")
    began = time.monotonic()
    for name, command in CHECKS.items():
        say(f"--- {name}")
        done = subprocess.run(
            [str(venv / "bin" / command[0]), *command[1:]], cwd=TOP, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            outcome.failed += 1
            outcome.broken = ", ".join(filter(None, [outcome.broken, name]))
        else:
            outcome.passed += 1
    outcome.seconds = time.monotonic() - began
    return outcome


def printed_by(suite: Suite) -> Path:
    return RESULTS / f"{suite.name}.txt"


def run_suite(suite: Suite, *, venv: Path, slow: bool, environment: dict[str, str]) -> Outcome:
    """One run of pytest, its counts from the report that it writes; its output on the terminal, or in its file."""
    outcome = Outcome(suite.name)
    report = RESULTS / f"{suite.name}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    marked = suite.marked if slow else f"({suite.marked}) and not ({suite.slow})"
    command = [str(venv / "bin/python"), "-m", "pytest", "-rs", "-m", marked, f"--junitxml={report}"]
    if suite.workers:
        command += ["-n", str(suite.workers)]
    began = time.monotonic()
    with printed_by(suite).open("w") if suite.beside else nullcontext() as printed:
        process = subprocess.Popen(
            command, cwd=TOP, env=environment, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed
        )
        try:
            code = process.wait(timeout=SECONDS_A_SUITE[slow])
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait(timeout=30)
            outcome.broken = f"had not ended after {SECONDS_A_SUITE[slow] // 60} minutes"
            code = 1
    outcome.seconds = time.monotonic() - began
    if report.exists():
        for counts in ElementTree.parse(report).getroot().iter("testsuite"):  # noqa: S314 -- pytest's own file
            number = {name: int(counts.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
            outcome.failed += number["failures"] + number["errors"]
            outcome.skipped += number["skipped"]
            outcome.passed += max(
                0, number["tests"] - number["failures"] - number["errors"] - number["skipped"]
            )
    # 5: no test was collected, which `good` judges.
    if code not in (0, 5) and not outcome.failed:
        outcome.broken = outcome.broken or f"pytest ended with {code}"
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "suites", nargs="*", help=f"lint, {', '.join(suite.name for suite in SUITES)}; none: all"
    )
    parser.add_argument("--venv", type=Path, default=Path(".venv-dev"))
    parser.add_argument("--slow", action="store_true", help="run the tests marked slow, too")
    arguments = parser.parse_args()
    known = {"lint", *(suite.name for suite in SUITES)}
    if unknown := set(arguments.suites) - known:
        parser.error(f"no suite is called {', '.join(sorted(unknown))}")
    wanted = set(arguments.suites) or known
    suites = [suite for suite in SUITES if suite.name in wanted]
    venv = TOP / arguments.venv

    # mysqlclient is built while the environment is made: its C libraries come first. All else, the
    # downloads of servers and of Python packages, goes side by side.
    built = subprocess.run([*SERVICES, "install", "mysqlclient"], stdin=subprocess.DEVNULL).returncode == 0
    without = [] if built else ["mysqlclient"]
    with ThreadPoolExecutor() as pool:
        needs = {need for suite in suites for need in suite.needs}
        names = sorted(need.service for need in needs if not brings_its_own(need))
        started = pool.submit(start_services, names)
        made = subprocess.run(
            ["deploy/make_venv", str(arguments.venv), "requirements-dev.txt", *without], cwd=TOP
        )
        states = started.result()
    if made.returncode:
        say("The environment of the tests could not be made.")
        return 1

    environment = {**service_environment(), **os.environ}
    for variable in ("DATABASE_URL", "GRAPH_URL"):
        environment.pop(variable, None)

    def done(suite: Suite) -> Outcome:
        """The suite is run, or what it lacks is said."""
        said_by = {need.service: states.get(need.service, (0, "")) for need in suite.needs}
        if not built and any(need.passed_as == "DATABASE_URL" for need in suite.needs):
            why = "mysqlclient cannot be built here: its C libraries or compiler are missing"
            said_by["mysqlclient"] = (MACHINE_LACKS_IT, why)
        broken = "; ".join(said for code, said in said_by.values() if code not in (0, MACHINE_LACKS_IT))
        lacking = "; ".join(said for code, said in said_by.values() if code == MACHINE_LACKS_IT)
        if broken:
            return Outcome(suite.name, broken=f"its server does not start: {broken}")
        if lacking:
            return Outcome(suite.name, left_out=lacking)
        found = {need.passed_as: environment[need.url] for need in suite.needs}
        return run_suite(suite, venv=venv, slow=arguments.slow, environment={**environment, **found})

    with ThreadPoolExecutor() as pool:
        beside = {suite: pool.submit(done, suite) for suite in suites if suite.beside}
        outcomes = [run_lint(venv)] if "lint" in wanted else []
        for suite in suites:
            if suite in beside:
                outcome = beside[suite].result()
            say(f"\n=== {suite.name}")
            if suite not in beside:
                outcome = done(suite)
            elif outcome.seconds:  # it ran
                say(printed_by(suite).read_text(errors="replace"))
            outcomes.append(outcome)
    return report(outcomes)


def report(outcomes: list[Outcome]) -> int:
    """Print the table and the total; returns the exit code."""
    say(f"\n{'suite':10} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8}")
    for outcome in outcomes:
        if outcome.left_out:
            say(f"{outcome.name:10} left out: {outcome.left_out}")
            continue
        row = f"{outcome.name:10} {outcome.passed:7} {outcome.failed:7} {outcome.skipped:8} {outcome.seconds:8.0f}"
        note = outcome.broken or ("no test ran" if outcome.ran_nothing else "")
        say(f"{row}  {note}".rstrip())
    totals = [sum(getattr(outcome, name) for outcome in outcomes) for name in ("passed", "failed", "skipped")]
    # A suite that broke before any test counts as one failure: the last line must not look green.
    totals[1] += sum(1 for outcome in outcomes if not outcome.good and not outcome.failed)
    say("\n{} passed, {} failed, {} skipped".format(*totals))
    return 0 if all(outcome.good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())

"""The account that the tests use on MySQL and MariaDB: an ordinary one, as a production has it."""

import os
import subprocess

USER = "desk"
PASSWORD = "desk"  # noqa: S105 -- of throw-away databases on 127.0.0.1
DATABASE = "memory_desk"

# No SUPER and no global right: what an ordinary account may not do in production (a trigger while the
# binary log is on, say) must fail in the tests too. `_` is a wildcard in a grant, hence the backslashes.
SETUP = rf"""
CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON `memory\_desk%`.* TO '{USER}'@'%';
GRANT ALL ON `test\_%`.* TO '{USER}'@'%';
CREATE DATABASE IF NOT EXISTS {DATABASE};
"""


def url(port: int) -> str:
    return f"mysql://{USER}:{PASSWORD}@127.0.0.1:{port}/{DATABASE}"


def answers(client: list[str], *, port: int, socket: str) -> bool:
    """Whether a server answers the tests' account on its port; makes the account where it is missing."""
    as_tests = [*client, "-h127.0.0.1", f"-P{port}", f"-u{USER}", "-e", "SELECT 1"]
    as_root = [*client, "-uroot", f"--socket={socket}"]
    return _works(as_tests, password=PASSWORD) or (
        _works(as_root, statements=SETUP) and _works(as_tests, password=PASSWORD)
    )


def _works(command: list[str], *, password: str = "", statements: str = "") -> bool:
    environment = {**os.environ, "MYSQL_PWD": password}
    try:
        done = subprocess.run(
            command,
            input=statements,
            env=environment,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0

"""The desk as `make run` starts it: its own process and data folder, filled with the demo."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SECONDS_TO_START = 180
# The settings of whoever runs this must not reach the desk: it is a newcomer's, with none.
OURS = (
    "DATABASE_URL",
    "GRAPH_URL",
    "DATA_DIR",
    "SECRET_KEY",
    "TOKEN_PEPPER",
    "HOST",
    "PORT",
    "SITE_URL",
    "DEBUG",
)


@dataclass
class RealDesk:
    url: str
    login_link: str = ""
    token: str = ""
    said: list[str] = field(default_factory=list)


@contextmanager
def running_desk(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[RealDesk]:
    """A desk with its data in `folder`, on a free port, with these further settings; yields once it answers."""
    port = _free_port()
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    environment |= {"DATA_DIR": str(folder), "PORT": str(port), "PYTHONUNBUFFERED": "1", **(settings or {})}
    process = subprocess.Popen(
        [sys.executable, "manage.py", "run_desk"], cwd=TOP, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    desk = RealDesk(f"http://127.0.0.1:{port}")
    ready = threading.Event()
    listener = threading.Thread(target=_listen, args=(process, desk, ready), daemon=True)
    listener.start()
    try:
        if not ready.wait(SECONDS_TO_START) or process.poll() is not None:
            raise RuntimeError("The desk did not start:\n" + "".join(desk.said))
        yield desk
    finally:
        process.terminate()
        process.wait(timeout=30)


def _listen(process: subprocess.Popen[str], desk: RealDesk, ready: threading.Event) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        desk.said.append(line)
        if found := re.search(r"http://\S+/login/\S+", line):
            desk.login_link = found[0]
        elif found := re.search(r"mdk_\S+", line):
            desk.token = found[0]
        elif "Ctrl-C" in line:
            ready.set()
    ready.set()  # it ended


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

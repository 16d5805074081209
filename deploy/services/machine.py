"""What the services need of the machine: a folder of state, Debian packages, room to report."""

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

STATE = Path(os.environ.get("MEMORY_DESK_SERVICES") or Path.home() / ".cache/memory-desk/services").resolve()
LOGS = STATE / "log"

_speaking = threading.Lock()


class Failure(Exception):
    """A step did not work; the message says what, and what to do."""

    exit_code = 1


class Lacking(Failure):
    """This machine has no root, no apt, …: nothing is broken, but the service cannot be had here."""

    exit_code = 3


def say(line: str) -> None:
    with _speaking:
        sys.stderr.write(line + "\n")


def check_instance(name: str) -> None:
    """Raises Failure where a name cannot be part of paths and of environment variables."""
    if name and not name.isalnum():
        raise Failure(f"an instance is named by letters and digits, not {name!r}")


def executable(name: str) -> str | None:
    """The path of a program; servers live in sbin, which an ordinary PATH leaves out."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin")


def tail(log: Path, lines: int = 15) -> str:
    """The end of a log, indented, to go under an error message."""
    try:
        text = log.read_text(errors="replace")
    except OSError:
        return f"    (no log at {log})"
    return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])


def run(
    name: str, *commands: list[str], environment: dict[str, str] | None = None, cwd: Path | None = None
) -> None:
    """Run installation commands in a row, their output in `log/<name>.log`; raises Failure with its tail."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    with open(log, "w") as output:
        for command in commands:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                cwd=cwd,
                check=False,
            )
            if done.returncode:
                raise Failure(
                    f"`{' '.join(command[:3])} …` ended with {done.returncode}; the end of {log}:\n{tail(log)}"
                )


def may_install() -> bool:
    return executable("apt-get") is not None and os.geteuid() == 0


def apt_install(services: list) -> None:
    """Install the Debian packages that services lack, after one `apt-get update` an hour.

    Raises Lacking without root or apt.
    """
    packages = sorted({package for service in services for package in service.missing_packages()})
    if not packages:
        return
    if not may_install():
        names = ", ".join(service.name for service in services if service.missing_packages())
        reason = "this user is not root" if executable("apt-get") else "this machine has no apt"
        raise Lacking(
            f"{names}: needs Debian packages, and {reason}. With root: apt-get install {' '.join(packages)}"
        )
    say(f"apt: installing {' '.join(packages)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    wait_for_lock = ["-o", "DPkg::Lock::Timeout=600", "-o", "Acquire::Retries=3"]
    began = time.monotonic()
    updated = STATE / "apt-updated"
    if not (updated.exists() and time.time() - updated.stat().st_mtime < 3600):
        run("apt-update", ["apt-get", *wait_for_lock, "update", "-q"], environment=quiet)
        updated.touch()
    run(
        "apt-install",
        ["apt-get", *wait_for_lock, "install", "-q", "-y", "--no-install-recommends", *packages],
        environment=quiet,
    )
    say(f"apt: done ({time.monotonic() - began:.1f} s)")


def debian_mirror() -> str:
    """The Debian mirror that apt of this machine uses; MEMORY_DESK_DEBIAN_MIRROR where apt knows none."""
    if given := os.environ.get("MEMORY_DESK_DEBIAN_MIRROR"):
        return given
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(LABEL)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    for line in listed.splitlines():
        uri, _, label = line.partition(" ")
        if label == "Debian":
            return uri
    raise Lacking(
        "apt of this machine uses no Debian mirror. Set MEMORY_DESK_DEBIAN_MIRROR to one that carries sid"
    )


def apt_proxy() -> dict[str, str]:
    """apt's own proxy as environment, for programs that download the same packages without apt."""
    answer = subprocess.run(
        ["apt-config", "shell", "PROXY", "Acquire::http::Proxy"], capture_output=True, text=True, check=False
    ).stdout.strip()
    proxy = answer.partition("=")[2].strip("'")
    return {"http_proxy": proxy} if proxy and proxy != "DIRECT" else {}

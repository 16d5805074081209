"""The day git first saw each file, for records that write no date; asked for by an option only."""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

from transfer.importing.folders import shown_path

TIMEOUT_SECONDS = 300
# A repository's own settings must not run programs while its log is read.
_SAFE = ["-c", "log.showSignature=false", "-c", "core.fsmonitor=false", "-c", "core.pager=cat"]


class NoGit(Exception):
    """The folder is in no repository that git can read."""


def first_commit_days(folder: Path) -> dict[str, date]:
    """By path inside the folder, the author's day of the first commit, renames followed."""
    command = [
        "git", *_SAFE, "log", "--reverse", "--format=%x01%as", "--name-status", "-z", "-M", "--relative",
        "--no-ext-diff", "--no-textconv", "--", ".",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoGit(f"git could not be asked: {error}") from error
    if done.returncode:
        raise NoGit(done.stderr.decode("utf-8", "replace").strip() or "git could not be asked")
    return _days(done.stdout)


def _days(output: bytes) -> dict[str, date]:
    days: dict[str, date] = {}
    today: date | None = None
    words = iter(output.split(b"\x00"))
    for raw in words:
        word = raw.lstrip(b"\n")
        if word.startswith(b"\x01"):
            today = _day(word[1:].decode("ascii", "replace").strip())
        elif word[:1] in (b"R", b"C") and word[1:].isdigit():
            before, after = _path(next(words, b"")), _path(next(words, b""))
            if (day := days.get(before) or today) is not None:
                days.setdefault(after, day)
        elif word and word.isalpha() and len(word) == 1:
            path = _path(next(words, b""))
            if today is not None:
                days.setdefault(path, today)
    return days


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _path(raw: bytes) -> str:
    return shown_path(raw.decode("utf-8", "surrogateescape"))

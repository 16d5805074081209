"""The files of a folder: which of them may be decision records, and why the others are not looked into."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from transfer.adr.score import RECORD_SUFFIXES

# Never holds a project's own records: version control, packages of others.
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox"})
FILE_MAX_BYTES = 16 * 1024 * 1024
# UTF-16 has a NUL beside every ASCII letter and none of these; a picture or an archive has many.
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_SAMPLE = 8192


@dataclass(frozen=True)
class FoundFile:
    """A file by its path inside the folder; `skipped` says why it is left out, `problem` why it could not be read."""

    path: str
    place: Path
    skipped: str = ""
    problem: str = ""


def root_of(path: Path) -> Path:
    """The folder that paths are relative to."""
    return path if path.is_dir() else path.parent


def find_files(path: Path, suffixes: frozenset[str] = RECORD_SUFFIXES) -> Iterator[FoundFile]:
    """Files that can be records, in the order of their paths; one file when `path` is one. Follows no link."""
    if not path.is_dir():
        yield FoundFile(shown_path(path.name), path)
        return
    found: list[FoundFile] = []

    def unreadable(error: OSError) -> None:
        place = Path(os.fsdecode(error.filename))
        found.append(
            FoundFile(_inside(path, place), place, problem=f"the folder cannot be read: {error.strerror}")
        )

    for folder, names, files in os.walk(path, onerror=unreadable, followlinks=False):
        links = [name for name in names if os.path.islink(os.path.join(folder, name))]
        names[:] = sorted(name for name in names if name not in SKIPPED_FOLDERS and name not in links)
        for name in [*links, *files]:
            place = Path(folder, name)
            if name in links or place.suffix.lower() in suffixes:
                found.append(_look_at(path, place))
    yield from sorted(found, key=lambda file: file.path)


def _look_at(root: Path, place: Path) -> FoundFile:
    path = _inside(root, place)
    try:
        mode = place.lstat().st_mode
    except OSError as error:
        return FoundFile(path, place, problem=f"cannot be read: {error.strerror}")
    if stat.S_ISLNK(mode):
        return FoundFile(path, place, skipped="a symbolic link: not followed")
    if not stat.S_ISREG(mode):
        return FoundFile(path, place, skipped="not a regular file")
    return FoundFile(path, place)


def read_file(file: FoundFile) -> tuple[bytes, str, str]:
    """(bytes, skipped, problem) of a file; it may have changed since it was found, so nothing is taken on trust."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(file.place, flags), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                return b"", "not a regular file", ""
            if status.st_size > FILE_MAX_BYTES:
                size = f"{status.st_size / 1024 / 1024:.0f} MiB"
                return b"", f"{size}: larger than any record ({FILE_MAX_BYTES // 1024 // 1024} MiB)", ""
            data = stream.read(FILE_MAX_BYTES + 1)
    except OSError as error:
        return b"", "", f"cannot be read: {error.strerror}"
    if len(_CONTROL.findall(data[:_SAMPLE])) > len(data[:_SAMPLE]) * 0.02:
        return b"", "binary, not text", ""
    return data, "", ""


def _inside(root: Path, place: Path) -> str:
    return shown_path(place.relative_to(root).as_posix()) if place != root else "."


def shown_path(path: str) -> str:
    """A path as text every database keeps; bytes of a name that are no UTF-8 become `\\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace").replace("\x00", "")


def one_line(text: str) -> str:
    """For a report or a reason: a name may hold line breaks and terminal codes."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)

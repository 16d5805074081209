"""What a backup says of itself, in manifest.json: its program, schema, rows and checksums."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from transfer.backup.checksums import TableSum
from transfer.backup.problem import BackupProblem

NAME = "manifest.json"
FORMAT = "memory-desk-backup"
VERSION = 1


@dataclass(frozen=True)
class Manifest:
    """`vendor` is sqlite, mysql or mariadb; `migrations` the schema, as (app, name)."""

    program: str
    made_at: str
    vendor: str
    server: str
    file: str
    bytes: int
    sha256: str
    migrations: list[tuple[str, str]]
    tables: dict[str, TableSum]
    views: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())

    def write(self, folder: Path) -> None:
        said = {"format": FORMAT, "version": VERSION, **asdict(self)}
        (folder / NAME).write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    path = folder / NAME
    if not path.is_file():
        raise BackupProblem(f"{folder} holds no backup: there is no {NAME} in it.")
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if said.pop("format") != FORMAT:
            raise ValueError("of another program")
        version = said.pop("version")
        if version != VERSION:
            raise BackupProblem(f"{path} is of format {version!r}; this program reads format {VERSION}.")
        said["migrations"] = [(app, name) for app, name in said["migrations"]]
        said["tables"] = {name: TableSum(**table) for name, table in said["tables"].items()}
        return Manifest(**said)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackupProblem(f"{path} cannot be read: {error!r}") from error


def check_file(manifest: Manifest, folder: Path) -> Path:
    """The file of the data, if it is byte by byte the one that was written."""
    path = folder / manifest.file
    if Path(manifest.file).name != manifest.file or not path.is_file():
        raise BackupProblem(f"{path} is missing.")
    if path.stat().st_size != manifest.bytes or digest_of(path) != manifest.sha256:
        raise BackupProblem(
            f"{path} is not as it was written: it was changed, or is cut off. Nothing was restored."
        )
    return path


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

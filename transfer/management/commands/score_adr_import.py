"""`manage.py score_adr_import`: how right the import of a folder is, against a list of what is right."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from transfer.adr.score import FIELDS
from transfer.importing.scoring import ImportScore, score_import
from transfer.importing.tables import require_tables


class Command(BaseCommand):
    help = (
        "Import a folder twice into a project of its own, compare title, status and date of the rows with a table "
        "(file, title, status, date; ? is not counted), print every miss, and roll all of it back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder")
        parser.add_argument("expected", nargs="?", help="a .tsv file; left out: expected.tsv in the folder")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = Path(options["folder"]).resolve()
        expected = Path(options["expected"]) if options["expected"] else folder / "expected.tsv"
        for path in (folder, expected):
            if not path.exists():
                raise CommandError(f"There is no {path}.")
        require_tables()
        found = score_import(folder, expected)
        for line in lines(found):
            self.stdout.write(line)
        if not found.good:
            sys.exit(1)


def lines(found: ImportScore) -> Iterator[str]:
    """The table, each miss with its reason, the links, the second run."""
    score = found.score
    yield f"{'':8}{'right':>7}{'counted':>9}{'%':>8}"
    for name in FIELDS:
        yield f"{name:8}{score.right[name]:>7}{score.counted[name]:>9}{score.share(name):>8.2f}"
    yield (
        f"files imported: {score.imported}; expected but not: {len(score.not_imported)}; "
        f"besides: {len(score.imported_besides)}; left out: {len(score.left_out)}; {found.seconds:.1f} s"
    )
    yield from (f"  not imported: {line}" for line in score.not_imported)
    yield from (f"  imported besides: {line}" for line in score.imported_besides)
    for miss in score.misses:
        yield f'  {miss.field}: {miss.file}\n    expected "{miss.expected}", is "{miss.read}" ({miss.reason})'
    made = ", ".join(f"{count} {name}" for name, count in found.links.items())
    yield f'links: {made}; "superseded by" without a record: {len(found.superseded_by_unresolved)}'
    yield from (f"  {line}" for line in found.superseded_by_unresolved)
    yield f"superseded: {len(found.superseded)}, without a successor: {len(found.superseded_without_successor)}"
    yield from (f"  {path}" for path in found.superseded_without_successor)
    wrote = ", ".join(f"{count} {name}" for name, count in found.second_wrote.items())
    yield f"second run: {found.second.counts()['unchanged']} unchanged; it wrote {wrote}"

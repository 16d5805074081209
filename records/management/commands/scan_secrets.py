"""`manage.py scan_secrets [--project SLUG] [--erase --reason WHY]`: secrets that are stored already. Exit code 1: some are."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from projects.commands import told_project_or_none
from projects.models import Project
from records.actor import Actor
from records.erasing_values import ValuesErased, erase_values, redact_cells
from records.errors import InvalidInput
from records.hygiene.secrets import MARK, PASSES, is_unlike_words
from records.hygiene.stored import StoredSecret, stored_secrets

SHOWN = 200


class Command(BaseCommand):
    help = (
        "Find what looks like a secret in everything that is stored about records: rows, histories, notes, reasons, original"
        " documents, kept answers. Says kind and place, never the secret. --erase puts [redacted: <kind>] in its place."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", default="", help="this one's records only")
        parser.add_argument("--erase", action="store_true", help="take them out for good, in all versions")
        parser.add_argument("--reason", default="", help="why; asked for with --erase, and kept for ever")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["erase"] and not options["reason"].strip():
            raise CommandError("--erase needs --reason: it is what stays.")
        told = told_project_or_none(options["project"])
        projects = [told] if told else [*Project.objects.order_by("slug"), None]
        left = sum(self._scan(project, options["reason"] if options["erase"] else "") for project in projects)
        if left:
            self.stdout.write("Revoke them where they are valid: whoever could read this desk has seen them.")
            if not options["erase"]:
                sys.exit(1)

    def _scan(self, project: Project | None, reason: str) -> int:
        name = project.slug if project else "(no project)"
        found = self._say(name, project)
        if found and reason:
            for _ in range(PASSES):  # where two overlapped, the rest of one is seen now
                self._take_out(name, project, found, reason)
                found = list(stored_secrets(project.pk if project else None))
                if not found:
                    break
            if found:
                raise CommandError(f"{name}: {len(found):,} are left; run it again.")
            return 1
        return len(found)

    def _take_out(self, name: str, project: Project | None, found: list[StoredSecret], reason: str) -> None:
        """From everywhere where it cannot be a part of other words, else from where it was found."""
        odd = {one.text: MARK.format(one.kind) for one in found if is_unlike_words(one.text)}
        plain = [one for one in found if one.text not in odd]
        actor = Actor.command("scan_secrets")
        try:
            done = erase_values(odd, project, actor=actor, reason=reason) if odd else ValuesErased()
            if plain:
                done.add(redact_cells([one.place for one in plain], project, actor=actor, reason=reason))
        except InvalidInput as error:
            raise CommandError(str(error)) from error
        cells = sum(done.cells.values())
        self.stdout.write(
            f"{name}: taken out of {len(set(done.node_ids)):,} records and {cells:,} other places."
        )
        if plain:
            self.stdout.write(
                f"{name}: {len({one.text for one in plain}):,} could be ordinary words: taken out where they were found,"
                " and left alone where they stand by themselves."
            )

    def _say(self, name: str, project: Project | None) -> list[StoredSecret]:
        found = list(stored_secrets(project.pk if project else None))
        for one in found[:SHOWN]:
            self.stdout.write(f"{name}: {one.kind} in {one.place}")
        if len(found) > SHOWN:
            self.stdout.write(f"{name}: … and {len(found) - SHOWN:,} more")
        kinds = ", ".join(
            f"{kind} {count:,}" for kind, count in Counter(one.kind for one in found).most_common()
        )
        if found or project is not None:
            self.stdout.write(f"{name}: {len(found):,} found{f' ({kinds})' if kinds else ''}.")
        return found

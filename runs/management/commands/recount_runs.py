"""`manage.py recount_runs`: the figures and sums of runs anew, from the runs themselves."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from runs.recounting import faults, recount


class Command(BaseCommand):
    help = "Compare the figures and daily sums of runs with the runs themselves, and mend what differs. Writers may go on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="only say what differs")

    def handle(self, *args: Any, **options: Any) -> None:
        found = faults() if options["check"] else recount()
        told = ", ".join(f"{count:,} {what}" for what, count in found.items() if count)
        if options["check"]:
            self.stdout.write(f"Differing: {told}." if told else "Figures and sums are those of the runs.")
        else:
            self.stdout.write(f"Mended: {told}." if told else "Nothing differed.")

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from curation.saved.digest import send_due


class Command(BaseCommand):
    help = "Send the daily digests that are due. The worker does it too; this is for a desk whose worker may send no mail."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--now", action="store_true", help="whatever the hour, also to whom today's was sent"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        sent, _more = send_due(seconds=3600, at_once=options["now"])
        self.stdout.write(f"{sent} sent.")

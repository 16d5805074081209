from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from desk.demo.seed import seed_demo
from projects.manager import Manager


class Command(BaseCommand):
    help = "Make the demo project, with about seventy memories of all kinds from the last sixty days."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            project = seed_demo(by=Manager.command("seed_demo"))
        except ValidationError as error:
            raise CommandError("The demo is here already: " + " ".join(error.messages)) from error
        self.stdout.write(f"Made the demo project {project.name} ({project.slug}).")

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from projects.actions import create_account
from projects.commands import told_project_or_none
from projects.login_links import login_link_for
from projects.manager import Manager
from projects.models import Role


class Command(BaseCommand):
    help = "Make an account and print its one-time login link."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--project", metavar="SLUG", help="make it a member of this project")
        parser.add_argument("--role", choices=Role.values, default=Role.CURATOR)
        parser.add_argument(
            "--operator", action="store_true", help="sees and manages every project, and the admin"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = told_project_or_none(options["project"])
        try:
            user = create_account(
                by=Manager.command("create_account"),
                username=options["username"],
                project=project,
                role=options["role"],
                operator=options["operator"],
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(login_link_for(user))

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from projects.login_links import login_link_for
from projects.models import User


class Command(BaseCommand):
    help = "Print a one-time login link for an account; it works once, for a day."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", help="left out: the first operator")

    def handle(self, *args: Any, **options: Any) -> None:
        accounts = User.objects.filter(is_active=True)
        if options["username"]:
            user = accounts.filter(username=options["username"]).first()
        else:
            user = accounts.filter(is_superuser=True).order_by("pk").first()
        if user is None:
            raise CommandError("There is no such active account. Make one: manage.py create_account NAME.")
        self.stdout.write(login_link_for(user))

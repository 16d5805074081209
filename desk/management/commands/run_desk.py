from __future__ import annotations

import errno
import logging
import os
import socket
from argparse import BooleanOptionalAction
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.wsgi import get_wsgi_application
from django.db import connection, connections, transaction
from gunicorn.app.base import Application

from database.schema import NewerSchema, OlderSchema, check_schema
from desk.demo.seed import seed_demo
from projects.actions import create_account, create_token
from projects.login_links import login_link_for
from projects.manager import Manager
from projects.models import Project, User
from projects.snippets import python_command

CONFIGURATION = settings.BASE_DIR / "deploy" / "gunicorn.conf.py"
FIRST_OPERATOR = "admin"


class Command(BaseCommand):
    help = "Bring the database up to date, fill a new one with a demo, and serve the desk."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--link", action="store_true", help="print a one-time login link also on later starts"
        )
        parser.add_argument(
            "--demo", action=BooleanOptionalAction, default=True, help="fill a new database with the demo"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_busy_port(settings.HOST, settings.PORT)
        migrate_if_needed()
        with transaction.atomic():  # whole or not at all: a start that was killed in it begins anew
            lines = self._first_run(options["demo"]) if is_new() else []
        operator = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
        never_in = operator is not None and operator.last_login is None
        if operator is not None and (never_in or options["link"]):
            lines.insert(0, ("Sign in (works once)", login_link_for(operator)))
        if (
            "LOG_LEVEL" not in os.environ
        ):  # the lines below stay on the screen; LOG_LEVEL=INFO shows each request
            logging.getLogger("memory_desk.request").setLevel(logging.WARNING)
        import_module(settings.ROOT_URLCONF)  # before the fork, so that the first page finds it loaded
        connections.close_all()  # none may be shared with the serving process
        Server(lambda: self._say(lines, later=not never_in)).run()

    def _first_run(self, with_demo: bool) -> list[tuple[str, str]]:
        by = Manager.command("run_desk")
        create_account(by=by, username=FIRST_OPERATOR, operator=True)
        if not with_demo:
            return []
        project = seed_demo(by=by)
        _token, text = create_token(by=by, project=project, name="first run", agent_name="my-agent")
        return [("Token for an agent (shown once)", text)]

    def _say(self, lines: list[tuple[str, str]], later: bool) -> None:
        rows = [("Memory Desk", f"{settings.SITE_URL}/"), *lines, ("Data", data_place())]
        if later:
            rows.append(("Cannot sign in?", f"{python_command()} manage.py login_link"))
        width = max(len(name) for name, _text in rows)
        self.stdout.write("\n" + "\n".join(f"  {name:<{width}}  {text}" for name, text in rows))
        self.stdout.write("\n  Ctrl-C stops it.\n")
        self.stdout.flush()


class Server(Application):  # type: ignore[misc]
    """gunicorn inside this command: Django is loaded already, the address is said once it answers."""

    def __init__(self, when_ready: Any) -> None:
        self._when_ready = when_ready
        super().__init__(prog="memory-desk")

    def load_config(self) -> None:
        self.load_config_from_file(str(CONFIGURATION))
        self.cfg.set("when_ready", lambda server: self._when_ready())

    def load(self) -> Any:
        return get_wsgi_application()


def refuse_busy_port(host: str, port: int) -> None:
    """Say it before anything is written, in words."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CommandError(
                    f"Port {port} is in use: by another program, or by a desk that runs already. Choose one: PORT={port + 1} make run"
                ) from error
            raise CommandError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error


def migrate_if_needed() -> None:
    try:
        check_schema()
    except OlderSchema:
        call_command("migrate", verbosity=0, interactive=False)
    except NewerSchema as error:
        raise CommandError(str(error)) from error


def is_new() -> bool:
    """A database that nobody has used: no account, no project."""
    return not User.objects.exists() and not Project.objects.exists()


def data_place() -> str:
    database = settings.DATABASES["default"]
    if connection.vendor == "sqlite":
        return str(database["NAME"])
    return f"{database['NAME']} on {database['HOST']}"

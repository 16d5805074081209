from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from projects.actions import create_token
from projects.commands import known_projects, told_project
from projects.manager import Manager
from projects.models import Project, Scope
from projects.snippets import address_of_desk, export_command, write_command


class Command(BaseCommand):
    help = "Make a token for an agent and print it, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="may be left out where there is only one")
        parser.add_argument("--agent", default="my-agent", help="stamped on everything that it writes")
        parser.add_argument("--name", default="", help="where it is used, to tell tokens of one agent apart")
        parser.add_argument(
            "--scopes", default="read,write", help=f"comma-separated: {', '.join(Scope.values)}"
        )
        parser.add_argument("--days", type=int, help="how long it lives; left out: until revoked")

    def handle(self, *args: Any, **options: Any) -> None:
        project = _project(options["project"])
        scopes = [scope.strip() for scope in options["scopes"].split(",") if scope.strip()]
        try:
            _token, text = create_token(
                by=Manager.command("make_token"),
                project=project,
                name=options["name"] or options["agent"][:100],
                agent_name=options["agent"],
                scopes=scopes,
                days=options["days"],
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(text)
        if self.stderr.isatty():  # piped, only the token itself is wanted
            self.stderr.write(f"\nFor {options['agent']} in {project.name}; kept nowhere. To try it:\n")
            self.stderr.write(f"{export_command(text)}\n{write_command(address_of_desk(), project)}")


def _project(slug: str | None) -> Project:
    if slug:
        return told_project(slug)
    projects = list(Project.objects.all()[:2])
    if len(projects) == 1:
        return projects[0]
    if not projects:
        raise CommandError(
            "There is no project yet: start the desk once (make run), or make one on its home page."
        )
    raise CommandError(f"Which project? --project SLUG, one of: {known_projects()}.")

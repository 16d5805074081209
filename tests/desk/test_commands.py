"""run_desk up to the moment of serving, and the commands beside it."""

import io
import re
import socket

import pytest
from django.core.management import CommandError, call_command

from desk.management.commands import run_desk
from projects.models import AccessEvent, AgentToken, Project, User
from projects.tokens import find_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def served(monkeypatch, settings):
    """Instead of serving, say what would be said once the server answers."""
    settings.PORT = free_port()

    class Said:
        def __init__(self, when_ready):
            self.run = when_ready

    monkeypatch.setattr(run_desk, "Server", Said)
    monkeypatch.setattr(run_desk.connections, "close_all", lambda: None)

    def run(*options):
        out = io.StringIO()
        call_command("run_desk", *options, stdout=out)
        return out.getvalue()

    return run


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_the_first_start_makes_the_demo_an_operator_and_a_token(served, client):
    said = served()
    assert find_token(re.search(r"mdk_\S+", said)[0]).agent_name == "my-agent"
    assert Project.objects.get().slug == "ferry-booking"
    admin = User.objects.get(is_superuser=True)
    assert (admin.username, admin.has_usable_password()) == ("admin", False)
    link = re.search(r"https?://\S+(/login/\S+/)", said)
    assert client.post(link[1]).status_code == 302
    assert client.get("/", follow=True).status_code == 200


def test_the_second_start_makes_nothing_and_prints_no_token(served):
    served()
    before = (AgentToken.objects.count(), AccessEvent.objects.count())
    said = served()
    assert "mdk_" not in said
    assert (AgentToken.objects.count(), AccessEvent.objects.count()) == before


def test_the_link_is_printed_until_it_was_used_and_again_when_asked_for(served, client):
    link = re.search(r"/login/\S+/", served())[0]
    assert "/login/" in served()
    client.post(link)
    assert "/login/" not in served()
    assert "login_link" in served()
    assert "/login/" in served("--link")


def test_without_the_demo_there_is_an_operator_and_nothing_else(served):
    said = served("--no-demo")
    assert "/login/" in said
    assert not Project.objects.exists()


def test_a_busy_port_is_said_before_anything_is_written(served, settings):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings.PORT = taken.getsockname()[1]
        with pytest.raises(
            CommandError, match=rf"Port {settings.PORT} is in use.*PORT={settings.PORT + 1} make run"
        ):
            served()
    assert not User.objects.exists()


def test_an_address_that_is_not_this_machines_is_said(served, settings):
    settings.HOST = "203.0.113.1"
    with pytest.raises(CommandError, match="Cannot listen on"):
        served()


def test_make_token_prints_the_token_alone(project, capsys):
    call_command("make_token", agent="order-bot", days=7, scopes="read")
    printed = capsys.readouterr()
    token = find_token(printed.out.strip())
    assert (token.agent_name, token.scopes, list(token.projects.all())) == ("order-bot", ["read"], [project])
    assert printed.err == ""


def test_make_token_asks_which_project(project, other_project):
    with pytest.raises(CommandError, match=r"Which project.*bank, shop"):
        call_command("make_token")
    with pytest.raises(CommandError, match="no project 'x'"):
        call_command("make_token", project="x")
    with pytest.raises(CommandError, match="Choose among"):
        call_command("make_token", project="shop", scopes="own")
    call_command("make_token", project="shop")


def test_make_token_without_any_project_says_how_to_get_one(db):
    with pytest.raises(CommandError, match="make run"):
        call_command("make_token")


def test_a_first_start_that_was_killed_begins_anew(served, monkeypatch):
    def killed(**options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(run_desk, "create_token", killed)
        with pytest.raises(KeyboardInterrupt):
            served()
    assert not User.objects.exists()
    assert "mdk_" in served()
    assert Project.objects.get().slug == "ferry-booking"

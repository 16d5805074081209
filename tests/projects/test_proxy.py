"""Signing in by a proxy's header: from its addresses alone, and only while it says so."""

from ipaddress import ip_network

import pytest
from django.test import Client

from projects import proxy
from projects.models import AccessEvent, Membership, User

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def proxied(settings):
    settings.PROXY_USER_HEADER = "X-Forwarded-User"
    settings.PROXY_USER_FROM = [ip_network("10.0.0.0/24"), ip_network("::1")]
    settings.PROXY_USER_PROJECTS = []


def ask(client, name, address="10.0.0.5", path="/p/shop/", **more):
    headers = {"x-forwarded-user": name} if name is not None else {}
    return client.get(path, headers=headers | more, REMOTE_ADDR=address)


def test_who_the_proxy_names_is_signed_in(client, viewer_user):
    answer = ask(client, "vera")
    assert answer.status_code == 200
    assert b"vera" in answer.content


@pytest.mark.parametrize("address", ["10.0.1.5", "127.0.0.1", "::2", "", "nonsense"])
def test_nobody_else_may_name_anybody(client, viewer_user, address):
    assert ask(client, "vera", address).status_code == 302
    assert ask(client, "vera", address, **{"x-forwarded-for": "10.0.0.5"}).status_code == 302


def test_the_session_ends_with_the_proxys_word(client, viewer_user, curator_user):
    assert ask(client, "vera").status_code == 200
    assert ask(client, None).status_code == 302, "it names nobody"
    assert ask(client, "vera").status_code == 200
    assert b"cleo" in ask(client, "cleo").content, "it names another"
    assert ask(client, "cleo", "203.0.113.9").status_code == 302, (
        "past the proxy the session is worth nothing"
    )


def test_a_session_of_a_password_stays(client, viewer_user):
    client.post("/login/", {"username": "vera", "password": "correct horse battery"}, REMOTE_ADDR="10.0.0.5")
    assert ask(client, None).status_code == 200


def test_unknown_and_deactivated_people_stay_outside(client, viewer_user):
    assert ask(client, "nobody").status_code == 302
    User.objects.update(is_active=False)
    assert ask(client, "vera").status_code == 302
    assert User.objects.count() == 1


def test_unknown_people_become_viewers_where_projects_are_named(client, project, other_project, settings):
    settings.PROXY_USER_PROJECTS = ["shop", "no-such-project", "bank"]
    assert ask(client, "nina@example.org").status_code == 200
    user = User.objects.get()
    assert not user.has_usable_password()
    assert {(m.project.slug, m.role) for m in Membership.objects.all()} == {
        ("shop", "viewer"),
        ("bank", "viewer"),
    }
    assert AccessEvent.objects.filter(actor_name="proxy").count() == 3
    for name in ("a b", "x" * 200, "a,b", "<script>", "a/b"):
        assert ask(Client(), name).status_code == 302, name
    assert User.objects.count() == 1


def latin_1(name: str) -> str:
    """As a server hands on what the proxy wrote in UTF-8."""
    return name.encode().decode("latin-1")


@pytest.mark.parametrize("name", ["jürgen", "ju\u0308rgen", "магазин", "ﬁona"])
def test_a_name_in_any_letters_is_one_account_and_one_session(client, project, settings, name):
    settings.PROXY_USER_PROJECTS = ["shop"]
    assert ask(client, latin_1(name)).status_code == 200
    user, key = User.objects.get(), client.session.session_key
    assert user.username == User.normalize_username(name)
    assert ask(client, latin_1(name)).status_code == 200
    assert (User.objects.count(), client.session.session_key) == (1, key)


def test_a_name_in_other_capitals_keeps_its_session(client, viewer_user, monkeypatch):
    """MySQL finds "vera" by "Vera"; so every request would have been a new session, and every form out of date."""
    monkeypatch.setattr(proxy, "_account", lambda name: User.objects.get(username__iexact=name))
    assert ask(client, "Vera").status_code == 200
    key = client.session.session_key
    assert ask(client, "Vera").status_code == 200
    assert client.session.session_key == key
    assert ask(client, None).status_code == 302


def test_of_two_first_requests_the_second_finds_the_account(
    client, project, other_project, settings, monkeypatch
):
    settings.PROXY_USER_PROJECTS = ["shop", "bank"]
    make = proxy._make_viewer

    def other_was_first(username, projects):
        User.objects.create_user(username)
        return make(username, projects)

    monkeypatch.setattr(proxy, "_make_viewer", other_was_first)
    monkeypatch.setattr(User, "full_clean", lambda *args, **options: None)  # it looked a moment before
    assert ask(client, "nina", path="/account/").status_code == 200
    assert User.objects.count() == 1
    assert not AccessEvent.objects.exists()


def test_the_doors_of_agents_know_no_such_header(client, viewer_user):
    assert ask(client, "vera", path="/api/v1/me").status_code == 401
    assert ask(client, "vera", path="/healthz").status_code == 200
    assert not client.session.keys()


def test_without_the_setting_nothing_is_believed(client, viewer_user, settings):
    settings.PROXY_USER_HEADER = ""
    assert ask(client, "vera").status_code == 302

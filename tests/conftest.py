"""A small cast: two projects; an owner (admin), a curator, a viewer and a stranger; an agent's token."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.core.cache import cache

from projects import call_counts
from projects.access import access_of_user
from projects.models import AgentToken, Membership, Project, Role, User
from projects.tokens import digest_of, new_token_text
from recall.frequency import forget_frequencies
from recall.vectors import forget_vectors
from records import reads
from records.actor import TRUST, Actor, Channel, SourceKind
from tests.migrated import Migrated


@pytest.fixture(autouse=True)
def nothing_kept_in_memory(monkeypatch):
    """Rolled-back tests use the same ids again, and what is noted in the background would outlive them."""
    monkeypatch.setattr(reads, "in_background", False)
    yield
    reads.forget_reads()
    forget_vectors()
    forget_frequencies()
    call_counts.forget()
    cache.clear()


def pytest_configure() -> None:
    # A slow password hash protects people, not tests.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Static files are looked up when they are asked for. Else each client of a test reads all of them first.
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session")
def migrated() -> Migrated:
    return Migrated()


@pytest.fixture(scope="session")
def django_db_setup(migrated, django_db_setup, django_db_blocker):
    """`migrated` comes first: the database of the tests is made between the two."""
    with django_db_blocker.unblock():
        migrated.keep()


@pytest.fixture
def project(db) -> Project:
    return Project.objects.create(name="Shop", slug="shop")


@pytest.fixture
def other_project(db) -> Project:
    return Project.objects.create(name="Bank", slug="bank")


def make_user(name: str, project: Project | None, role: str | None) -> User:
    user = User.objects.create_user(name, password="correct horse battery")
    if project is not None and role is not None:
        Membership.objects.create(user=user, project=project, role=role)
    return user


@pytest.fixture
def admin_user(project: Project) -> User:
    return make_user("ada", project, Role.ADMIN)


@pytest.fixture
def curator_user(project: Project) -> User:
    return make_user("cleo", project, Role.CURATOR)


@pytest.fixture
def viewer_user(project: Project) -> User:
    return make_user("vera", project, Role.VIEWER)


@pytest.fixture
def as_curator(client, curator_user):
    client.force_login(curator_user)
    return client


@pytest.fixture
def as_viewer(client, viewer_user):
    client.force_login(viewer_user)
    return client


@pytest.fixture
def stranger_user(other_project: Project) -> User:
    return make_user("sam", other_project, Role.ADMIN)


def person(user: User) -> Actor:
    return Actor(
        channel=Channel.WEB,
        name=user.username,
        access=access_of_user(user),
        source_kind=SourceKind.PERSON,
        trust=TRUST[SourceKind.PERSON],
        user=user,
    )


@pytest.fixture
def curator(curator_user: User) -> Actor:
    return person(curator_user)


@pytest.fixture
def viewer(viewer_user: User) -> Actor:
    return person(viewer_user)


@pytest.fixture
def stranger(stranger_user: User) -> Actor:
    return person(stranger_user)


def make_token(
    project: Project, scopes: tuple[str, ...] = ("read", "write"), **fields
) -> tuple[AgentToken, str]:
    text = new_token_text()
    token = AgentToken.objects.create(
        name=fields.pop("name", "order-bot on ci"),
        agent_name=fields.pop("agent_name", "order-bot"),
        digest=digest_of(text),
        hint=text[-4:],
        scopes=list(scopes),
        **fields,
    )
    token.projects.add(project)
    return token, text


@pytest.fixture
def agent(project: Project) -> Actor:
    token, _ = make_token(project)
    return Actor.agent(token, session="ses-8841")

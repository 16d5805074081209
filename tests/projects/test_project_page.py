"""The project page: what each role sees of it, tokens shown once, members changed."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from projects.models import AccessEvent, AgentToken, Membership, User
from projects.tokens import find_token
from tests.conftest import make_token, make_user

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
PAGE = "/p/shop/project/"


@pytest.fixture
def as_admin(client, admin_user):
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_viewers_see_members_but_no_tokens_no_forms_and_no_log(client, viewer_user, admin_user, project):
    make_token(project, name="secret place")
    client.force_login(viewer_user, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(PAGE).content.decode()
    assert "ada" in page
    assert "secret place" not in page
    assert "/project/rename/" not in page
    assert "/project/members/" not in page
    assert "Changes of access" not in page


def test_a_new_token_is_in_the_answer_once_and_works(as_admin, caplog):
    fields = {"agent_name": "order-bot", "name": "", "scopes": ["read", "write"], "days": "30"}
    with caplog.at_level("DEBUG"):
        response = as_admin.post("/p/shop/project/tokens/", fields)
    text = re.search(r"mdk_[A-Za-z0-9_-]+", response.content.decode())[0]
    assert response.status_code == 201
    assert "no-store" in response["Cache-Control"]
    assert find_token(text).name == "order-bot"
    assert text not in caplog.text
    assert text not in as_admin.get(PAGE).content.decode()
    assert text not in str(dict(as_admin.session))


@pytest.mark.parametrize(
    "wrong",
    [
        {"agent_name": ""},
        {"scopes": []},
        {"scopes": ["own"]},
        {"days": "-3"},
        {"days": "x"},
        {"name": "x" * 101},
        {"agent_name": "a\x00b"},
    ],
)
def test_a_wrong_token_form_says_why_and_makes_none(as_admin, wrong):
    fields = {"agent_name": "order-bot", "name": "ci", "scopes": ["read"], "days": "30", **wrong}
    response = as_admin.post("/p/shop/project/tokens/", fields)
    assert response.status_code == 422
    assert "errorlist" in response.content.decode()
    assert not AgentToken.objects.exists()


def test_a_revoked_token_stays_listed_as_revoked(as_admin, project):
    token, text = make_token(project)
    assert as_admin.post(f"/p/shop/project/tokens/{token.pk}/revoke/").status_code == 303
    assert find_token(text) is None
    assert "revoked" in as_admin.get(PAGE).content.decode()


def test_a_token_or_member_of_another_project_is_not_there(as_admin, other_project, stranger_user):
    token, _text = make_token(other_project)
    member = Membership.objects.get(user=stranger_user)
    assert as_admin.post(f"/p/shop/project/tokens/{token.pk}/revoke/").status_code == 404
    assert as_admin.post(f"/p/shop/project/members/{member.pk}/remove/").status_code == 404
    assert as_admin.post(f"/p/shop/project/members/{member.pk}/role/", {"role": "viewer"}).status_code == 404


def test_a_member_is_added_by_username(as_admin, stranger_user):
    assert (
        as_admin.post("/p/shop/project/members/", {"username": "sam", "role": "curator"}).status_code == 303
    )
    assert Membership.objects.get(user=stranger_user, project__slug="shop").role == "curator"
    answer = as_admin.post("/p/shop/project/members/", {"username": "nobody", "role": "curator"})
    assert answer.status_code == 422
    assert "no account of that name" in answer.content.decode()
    assert as_admin.post("/p/shop/project/members/", {"username": "sam", "role": "boss"}).status_code == 422


def test_the_last_admin_is_told_why_he_stays(as_admin, admin_user):
    member = Membership.objects.get(user=admin_user)
    response = as_admin.post(f"/p/shop/project/members/{member.pk}/remove/", follow=True)
    assert "last admin" in response.content.decode()
    response = as_admin.post(f"/p/shop/project/members/{member.pk}/role/", {"role": "nonsense"}, follow=True)
    assert response.status_code == 200
    assert Membership.objects.get(user=admin_user).role == "admin"


def test_a_rename_is_written_down_and_shown(as_admin, admin_user):
    assert as_admin.post("/p/shop/project/rename/", {"name": "The Shop"}).status_code == 303
    assert as_admin.post("/p/shop/project/rename/", {"name": " "}).status_code == 422
    assert AccessEvent.objects.get().user == admin_user
    page = as_admin.get(PAGE).content.decode()
    assert "Shop → The Shop" in page


def test_the_commands_hold_this_desks_address_and_project(as_admin):
    page = as_admin.get(PAGE, HTTP_HOST="localhost:8123").content.decode()
    assert "curl -sS http://localhost:8123/api/v1/decisions" in page
    assert "import_adrs PATH --project shop" in page
    assert "make_token --project shop" in page


def test_operators_make_projects_and_others_do_not(client, admin_user):
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/projects/new/").status_code == 403
    client.force_login(
        User.objects.create_superuser("olga"), backend="django.contrib.auth.backends.ModelBackend"
    )
    assert client.get("/projects/new/").status_code == 200
    assert (
        client.post("/projects/new/", {"name": "Ferry Booking", "slug": ""}).url
        == "/p/ferry-booking/project/"
    )
    assert client.post("/projects/new/", {"name": "Ferry Booking", "slug": ""}).status_code == 422
    assert client.post("/projects/new/", {"name": "x", "slug": "not a slug"}).status_code == 422


def test_the_page_costs_the_same_with_many_members_tokens_and_events(as_admin, project):
    as_admin.get(PAGE)
    with CaptureQueriesContext(connection) as few:
        as_admin.get(PAGE)
    for number in range(12):
        make_user(f"user-{number}", project, "viewer")
        make_token(project, name=f"token {number}")
        AccessEvent.objects.create(
            project=project, verb="add_member", subject="x", actor_name="y", channel="web"
        )
    with CaptureQueriesContext(connection) as many:
        as_admin.get(PAGE)
    assert len(many) == len(few)

"""The operators' admin of accounts and projects: what it shows, and what it leaves to the project page."""

import pytest
from django.contrib import admin

from projects.models import AccessEvent, AgentToken, Membership, Project, User

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def operator(client, project, admin_user):
    client.force_login(User.objects.create_superuser("olga"), backend=BACKEND)
    return client


def test_operators_make_accounts(operator):
    assert operator.get("/admin/projects/user/add/").status_code == 200
    fields = {
        "username": "nora",
        "password1": "a ferry at dawn",
        "password2": "a ferry at dawn",
        "usable_password": "true",
    }
    assert operator.post("/admin/projects/user/add/", fields).status_code == 302
    nora = User.objects.get(username="nora")
    assert operator.get(f"/admin/projects/user/{nora.pk}/change/").status_code == 200
    assert operator.get(f"/admin/projects/user/{nora.pk}/delete/").status_code == 403


@pytest.mark.parametrize("model", [Project, Membership, AccessEvent])
def test_access_is_read_there_and_changed_on_the_project_page(operator, model):
    name = model._meta.model_name
    assert operator.get(f"/admin/projects/{name}/").status_code == 200
    assert operator.get(f"/admin/projects/{name}/add/").status_code == 403
    if model is not AccessEvent:
        key = model.objects.first().pk
        assert operator.get(f"/admin/projects/{name}/{key}/change/").status_code == 200
        assert operator.post(f"/admin/projects/{name}/{key}/change/", {}).status_code == 403


def test_tokens_are_not_in_the_admin():
    assert not admin.site.is_registered(AgentToken)


def test_members_are_not_let_in(client, admin_user):
    client.force_login(admin_user, backend=BACKEND)
    assert client.get("/admin/").url == "/admin/login/?next=/admin/"
    page = client.get("/admin/", follow=True).content.decode()
    assert "Your account may not open that page" in page

"""Accounts of the desk: made, reset, deactivated, reactivated; who may; what stays. And one's own preferences."""

import re

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from projects import accounts, actions
from projects.access import access_of_user
from projects.login_links import login_link_for, user_of_link
from projects.manager import Manager
from projects.models import AccessEvent, Membership, Role, User
from tests.conftest import make_user

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
BACKEND = "django.contrib.auth.backends.ModelBackend"
NEW = "a staple and a battery"


def manager(user) -> Manager:
    return Manager(name=user.username, access=access_of_user(user), channel="web", user=user)


@pytest.fixture
def operator(db) -> User:
    return User.objects.create_superuser("olga", password="correct horse battery")


@pytest.fixture
def as_operator(client, operator):
    client.force_login(operator, backend=BACKEND)
    return client


def reset_path(page: str) -> str:
    return re.search(r"(/password/reset/[\w-]+/[\w-]+/)", page)[1]


def test_an_operator_makes_an_account_and_its_owner_sets_the_password_once(as_operator, project):
    answer = as_operator.post(
        "/accounts/new/",
        {"username": "nina", "email": "nina@example.org", "project": project.pk, "role": "curator"},
    )
    assert answer.status_code == 201
    path = reset_path(answer.content.decode())
    nina = Client()
    form = nina.get(path, follow=True)
    assert form.status_code == 200
    address = form.request["PATH_INFO"]
    assert nina.post(address, {"new_password1": NEW, "new_password2": "x"}).status_code == 422
    assert (
        nina.post(address, {"new_password1": "1234567890", "new_password2": "1234567890"}).status_code == 422
    )
    assert nina.post(address, {"new_password1": NEW, "new_password2": NEW}).status_code == 302
    assert nina.get("/p/shop/").status_code == 200, "signed in"
    assert User.objects.get(username="nina").check_password(NEW)
    assert Client().get(path, follow=True).status_code == 410, "it works once"


@pytest.mark.parametrize(
    "wrong", [{"username": ""}, {"username": "a b"}, {"email": "x"}, {"role": "owner"}, {"project": "9999"}]
)
def test_a_wrong_account_is_explained(as_operator, project, wrong):
    fields = {"username": "nina", "email": "", "project": project.pk, "role": "viewer"}
    answer = as_operator.post("/accounts/new/", {**fields, **wrong})
    assert answer.status_code == 422
    assert not User.objects.filter(username="nina").exists()


def test_a_reset_ends_the_other_sessions(as_operator, viewer_user):
    other = Client()
    other.force_login(viewer_user, backend=BACKEND)
    path = reset_path(as_operator.post(f"/accounts/{viewer_user.pk}/reset/").content.decode())
    assert other.get("/p/shop/").status_code == 200, "the link alone changes nothing"
    vera = Client()
    address = vera.get(path, follow=True).request["PATH_INFO"]
    vera.post(address, {"new_password1": NEW, "new_password2": NEW})
    assert other.get("/p/shop/").status_code == 302
    assert AccessEvent.objects.get(verb="reset_password").subject == "vera"


def test_deactivated_at_once_and_no_old_session_or_link_comes_back(as_operator, viewer_user, project):
    vera = Client()
    vera.force_login(viewer_user, backend=BACKEND)
    link = login_link_for(viewer_user).rsplit("/login/", 1)[1].strip("/").split("/")
    address = f"/accounts/{viewer_user.pk}/deactivate/"
    assert as_operator.post(address, {"reason": ""}).status_code == 303
    assert vera.get("/p/shop/").status_code == 200, "a reason is asked for"
    as_operator.post(address, {"reason": "left us"})
    assert vera.get("/p/shop/").status_code == 302
    assert user_of_link(*link) is None
    assert as_operator.post(f"/accounts/{viewer_user.pk}/reset/").status_code == 303, "no link for it"
    as_operator.post(f"/accounts/{viewer_user.pk}/reactivate/")
    assert vera.get("/p/shop/").status_code == 302, "it signs in anew"
    viewer_user.refresh_from_db()
    assert user_of_link(*link) is None
    again = Client()
    assert again.post("/login/", {"username": "vera", "password": "correct horse battery"}).status_code == 302
    assert again.get("/p/shop/").status_code == 200, "with its role and its password"
    events = AccessEvent.objects.order_by("id").values_list("verb", "detail")
    assert list(events) == [("deactivate", {"reason": "left us"}), ("reactivate", {})]


def test_the_last_operator_and_the_last_admin_stay(operator, admin_user, project):
    by = manager(operator)
    with pytest.raises(ValidationError, match="last operator"):
        accounts.deactivate(by=by, user=operator, reason="x")
    with pytest.raises(ValidationError, match="last admin"):
        accounts.deactivate(by=by, user=admin_user, reason="x")
    make_user("second", project, Role.ADMIN)
    assert not accounts.deactivate(by=by, user=admin_user, reason="x").is_active
    User.objects.create_superuser("otto")
    assert not accounts.deactivate(by=by, user=operator, reason="x").is_active


def test_only_operators_deactivate_and_an_admin_resets_whom_they_manage_wholly(
    admin_user, viewer_user, curator_user, stranger_user, operator, other_project
):
    for user in (admin_user, curator_user, stranger_user):
        for act in (accounts.deactivate, accounts.reactivate):
            with pytest.raises(PermissionDenied):
                act(
                    by=manager(user),
                    user=viewer_user,
                    **({"reason": "x"} if act is accounts.deactivate else {}),
                )
    assert accounts.may_reset(manager(admin_user), viewer_user)
    assert not accounts.may_reset(manager(admin_user), operator)
    assert not accounts.may_reset(manager(admin_user), admin_user)
    assert not accounts.may_reset(manager(admin_user), stranger_user)
    assert not accounts.may_reset(manager(curator_user), viewer_user)
    Membership.objects.create(user=viewer_user, project=other_project, role=Role.VIEWER)
    assert not accounts.may_reset(manager(admin_user), viewer_user), "who is also in a project of others"
    with pytest.raises(PermissionDenied):
        accounts.reset_link(by=manager(admin_user), user=viewer_user)


def test_an_admin_gives_a_member_a_new_password_on_the_project_page(
    client, admin_user, viewer_user, operator, project
):
    client.force_login(admin_user, backend=BACKEND)
    member = Membership.objects.get(user=viewer_user)
    answer = client.post(f"/p/shop/project/members/{member.pk}/reset/")
    assert answer.status_code == 201
    assert reset_path(answer.content.decode())
    boss = Membership.objects.create(user=operator, project=project, role=Role.VIEWER)
    answer = client.post(f"/p/shop/project/members/{boss.pk}/reset/", follow=True)
    assert "Only an admin of all its projects" in answer.content.decode()


def test_the_list_is_found_in_with_a_constant_number_of_queries(
    as_operator, project, django_assert_max_num_queries
):
    for number in range(12):
        make_user(f"person-{number}", project, Role.VIEWER)
    with django_assert_max_num_queries(12):
        page = as_operator.get("/accounts/").content.decode()
    assert "person-11" in page
    page = as_operator.get("/accounts/?q=son-11").content.decode()
    assert "person-11" in page
    assert "person-10" not in page
    assert as_operator.get("/accounts/?q=%00<script>").status_code == 200


def test_one_sets_ones_own_preferences(client, viewer_user):
    client.force_login(viewer_user, backend=BACKEND)
    fields = {"email": "vera@example.org", "time_zone": "Europe/Paris", "daily_digest": "on"}
    assert client.post("/account/", fields).status_code == 303
    viewer_user.refresh_from_db()
    assert (viewer_user.time_zone, viewer_user.daily_digest) == ("Europe/Paris", True)
    for wrong in (
        {"time_zone": "America"},
        {"time_zone": "Mars"},
        {"email": "x"},
        {"email": ""},
        {"email": "a@b\ncc: c@d.org"},
    ):
        assert client.post("/account/", {**fields, **wrong}).status_code == 422, wrong
    viewer_user.refresh_from_db()
    assert viewer_user.email == "vera@example.org"


@pytest.mark.parametrize("what", ["deactivated and back", "an operator", "in another project", "admin here"])
def test_a_reset_link_ends_with_the_rights_it_was_made_for(
    client, operator, admin_user, curator_user, project, other_project, what
):
    path = accounts.reset_link(by=manager(admin_user), user=curator_user)
    assert client.get(path, follow=True).status_code == 200
    command = Manager.command("test")
    if what == "deactivated and back":
        accounts.deactivate(by=command, user=curator_user, reason="left")
        accounts.reactivate(by=command, user=curator_user)
    elif what == "an operator":
        User.objects.filter(pk=curator_user.pk).update(is_superuser=True)
    elif what == "in another project":
        actions.add_member(by=command, project=other_project, user=curator_user, role=Role.VIEWER)
    else:
        actions.add_member(by=command, project=project, user=curator_user, role=Role.ADMIN)
    assert client.get(path, follow=True).status_code == 410


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/account/", {"email": "v@example.org", "time_zone": "Europe/Paris"}),
        ("/account/theme/", {"theme": "dark"}),
        ("/password/", {"old_password": "correct horse battery", "new_password1": NEW, "new_password2": NEW}),
    ],
)
def test_ones_own_forms_bring_no_deactivated_account_back(client, viewer_user, monkeypatch, path, form):
    """An operator deactivates it while the form is being saved."""
    client.force_login(viewer_user, backend=BACKEND)
    validate = User.set_password if path == "/password/" else User.clean

    def meanwhile(user, *args, **options):
        User.objects.filter(pk=viewer_user.pk).update(is_active=False)
        return validate(user, *args, **options)

    monkeypatch.setattr(User, validate.__name__, meanwhile)
    assert client.post(path, form).status_code in (302, 303)
    kept = User.objects.get(pk=viewer_user.pk)
    assert not kept.is_active
    if path == "/password/":
        assert kept.check_password(NEW)
    else:
        assert {name: getattr(kept, name) for name in form} == form

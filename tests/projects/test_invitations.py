"""Inviting by a link: the account of one's own, the role, the link that works once; hostile links and forms."""

import re
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from projects import accounts, actions, invitations
from projects.access import access_of_user
from projects.manager import Manager
from projects.models import AccessEvent, Invitation, Membership, Role, User
from projects.queries import invitation_of, invitations_of
from tests.conftest import make_user

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
PAGE = "/p/shop/project/"
PASSWORD = "a staple and a battery"
JOIN = {"username": "nina", "password": PASSWORD, "again": PASSWORD}


def manager(user) -> Manager:
    return Manager(name=user.username, access=access_of_user(user), channel="web", user=user)


@pytest.fixture
def as_admin(client, admin_user):
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def link(project, admin_user) -> str:
    _made, text = invitations.invite(
        by=manager(admin_user), project=project, role="curator", note_text="Nina"
    )
    return f"/invitation/{text}/"


def test_the_link_is_shown_once_and_only_its_digest_is_kept(as_admin, project):
    answer = as_admin.post(f"{PAGE}invitations/", {"note": "Nina", "role": "curator", "days": "7"})
    text = re.search(r"/invitation/([\w-]+)/", answer.content.decode())[1]
    assert answer.status_code == 201
    kept = Invitation.objects.get()
    assert text not in (kept.digest, kept.note)
    assert invitation_of(text) == kept
    page = as_admin.get(PAGE).content.decode()
    assert text not in page
    assert "Nina" in page


def test_who_has_the_link_makes_an_account_with_a_password_of_their_own(client, project, link):
    page = client.get(link)
    assert page.status_code == 200
    assert "You are invited to Shop" in page.content.decode()
    answer = client.post(link, JOIN)
    assert (answer.status_code, answer["Location"]) == (303, "/p/shop/")
    user = User.objects.get(username="nina")
    assert user.check_password(PASSWORD)
    assert not user.is_superuser
    assert Membership.objects.get(user=user).role == "curator"
    assert client.get("/p/shop/").status_code == 200, "signed in"
    verbs = AccessEvent.objects.order_by("id").values_list("verb", "actor_name")
    assert list(verbs) == [("invite", "ada"), ("create_account", "nina"), ("accept_invitation", "nina")]


def test_it_works_once(client, link):
    assert client.post(link, JOIN).status_code == 303
    client.logout()
    assert client.get(link).status_code == 410
    assert client.post(link, {**JOIN, "username": "other"}).status_code == 410
    assert not User.objects.filter(username="other").exists()


def test_a_signed_in_person_gets_the_role_and_keeps_a_greater_one(
    client, project, link, stranger_user, admin_user
):
    client.force_login(stranger_user, backend="django.contrib.auth.backends.ModelBackend")
    assert "Join as sam" in client.get(link).content.decode()
    assert client.post(link).status_code == 303
    assert Membership.objects.get(user=stranger_user, project=project).role == "curator"
    _made, text = invitations.invite(by=manager(admin_user), project=project, role="viewer")
    invitations.accept(text=text, user=admin_user)
    assert Membership.objects.get(user=admin_user, project=project).role == "admin"


@pytest.mark.parametrize(
    "wrong",
    [
        {"username": ""}, {"username": "a b"}, {"username": "a\x00b"}, {"username": "x" * 151}, {"username": "ada"},
        {"password": "", "again": ""}, {"again": "another one"}, {"password": "short", "again": "short"},
        {"password": "1234567890", "again": "1234567890"}, {"password": "x" * 5000, "again": "x" * 5000},
    ],
)  # fmt: skip
def test_a_wrong_form_is_explained_and_leaves_the_invitation_open(client, link, wrong):
    answer = client.post(link, {**JOIN, **wrong})
    assert answer.status_code == 422
    assert "errorlist" in answer.content.decode()
    assert not User.objects.exclude(username="ada").exists()
    assert client.get(link).status_code == 200


@pytest.mark.parametrize("text", ["x", "x" * 43, "x" * 4000, "%00" * 30, "..%2f" * 5])
def test_a_link_that_was_never_made_is_gone(client, db, text):
    for answer in (client.get(f"/invitation/{text}/"), client.post(f"/invitation/{text}/", JOIN)):
        assert answer.status_code in (404, 410)
    assert not User.objects.exists()


def test_withdrawn_and_expired_ones_are_gone(as_admin, project, admin_user):
    made, text = invitations.invite(by=manager(admin_user), project=project, role="viewer")
    assert as_admin.post(f"{PAGE}invitations/{made.pk}/withdraw/").status_code == 303
    assert as_admin.get(f"/invitation/{text}/").status_code == 410
    assert as_admin.post(f"{PAGE}invitations/{made.pk}/withdraw/").status_code == 303
    assert AccessEvent.objects.filter(verb="withdraw_invitation").count() == 1
    _made, text = invitations.invite(by=manager(admin_user), project=project, role="viewer", days=1)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(ValidationError):
        invitations.accept(text=text, user=admin_user)


@pytest.mark.parametrize("how", ["removed", "made a viewer", "deactivated"])
def test_who_is_no_admin_any_more_has_invited_nobody(client, project, admin_user, how):
    other = make_user("boss", project, Role.ADMIN)
    _kept, kept = invitations.invite(by=manager(other), project=project, role="viewer")
    _made, text = invitations.invite(by=manager(admin_user), project=project, role="admin")
    member = Membership.objects.get(user=admin_user)
    if how == "removed":
        actions.remove_member(by=manager(other), member=member)
    elif how == "made a viewer":
        actions.change_role(by=manager(other), member=member, role=Role.VIEWER)
    else:
        accounts.deactivate(by=Manager.command("test"), user=admin_user, reason="left")
    assert client.get(f"/invitation/{text}/").status_code == 410
    assert client.get(f"/invitation/{kept}/").status_code == 200
    assert AccessEvent.objects.filter(verb="withdraw_invitation", project=project).count() == 1


def test_open_ones_are_shown_however_many_others_there_are(project, admin_user):
    made, _text = invitations.invite(by=manager(admin_user), project=project, role="viewer")
    later = [Invitation(project=project, digest=str(n), expires_at=timezone.now()) for n in range(5)]
    Invitation.objects.bulk_create(later)
    shown = invitations_of(project, limit=3)
    assert [row.is_open for row in shown] == [True, False, False]
    assert shown[0].invitation == made


def test_only_admins_invite_and_only_as_the_rules_say(project, admin_user, curator_user, stranger_user):
    for user in (curator_user, stranger_user):
        with pytest.raises(PermissionDenied):
            invitations.invite(by=manager(user), project=project, role="viewer")
    for wrong in (
        {"role": "owner"},
        {"days": 0},
        {"days": 31},
        {"note_text": "x" * 256},
        {"note_text": "a\nb"},
    ):
        with pytest.raises(ValidationError):
            invitations.invite(**{"by": manager(admin_user), "project": project, "role": "viewer", **wrong})


def test_another_projects_invitation_is_not_here(as_admin, other_project, stranger_user):
    made, _text = invitations.invite(by=manager(stranger_user), project=other_project, role="viewer")
    assert as_admin.post(f"{PAGE}invitations/{made.pk}/withdraw/").status_code == 404


def test_joining_is_throttled_by_address(client, link):
    answers = {client.post(link, {**JOIN, "again": "no"}).status_code for _ in range(21)}
    assert answers == {422, 429}


def test_a_deactivated_account_joins_nothing(project, admin_user):
    _made, text = invitations.invite(by=manager(admin_user), project=project, role="viewer")
    user = make_user("gone", None, None)
    user.is_active = False
    with pytest.raises(ValidationError):
        invitations.accept(text=text, user=user)

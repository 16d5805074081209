"""Members, roles and tokens: who may change them, what is refused, what is written down."""

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from projects import actions, naming
from projects.access import access_of_user
from projects.manager import Manager
from projects.models import AccessEvent, AgentToken, Membership, Project
from projects.tokens import find_token
from tests.conftest import make_token, make_user

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def manager(user) -> Manager:
    return Manager(name=user.username, access=access_of_user(user), channel="web", user=user)


@pytest.fixture
def admin(admin_user) -> Manager:
    return manager(admin_user)


OPERATOR = Manager.command("test")


def events(project):
    return list(
        AccessEvent.objects.filter(project=project)
        .order_by("id")
        .values_list("verb", "subject", "actor_name")
    )


def test_an_operator_makes_a_project_with_a_slug_from_its_name():
    project = actions.create_project(by=OPERATOR, name="  Ferry Booking ")
    assert (project.name, project.slug) == ("Ferry Booking", "ferry-booking")
    assert events(project) == [("create_project", "Ferry Booking", "test")]


@pytest.mark.parametrize(
    ("name", "slug"), [("", ""), ("船", ""), ("x" * 256, "x"), ("A", "new"), ("a\x00b", "ab")]
)
def test_a_project_needs_a_name_and_a_slug(name, slug):
    with pytest.raises(ValidationError):
        actions.create_project(by=OPERATOR, name=name, slug=slug)
    assert not Project.objects.exists()


def test_a_slug_is_taken_once(project):
    with pytest.raises(ValidationError):
        actions.create_project(by=OPERATOR, name="Another", slug="shop")


def test_an_admin_of_a_project_makes_no_other(admin):
    with pytest.raises(PermissionDenied):
        actions.create_project(by=admin, name="Mine")


def test_renaming_keeps_the_slug_and_says_what_it_was(project, admin):
    naming.rename_project(by=admin, project=project, name="The Shop")
    naming.rename_project(by=admin, project=project, name="The Shop")
    event = AccessEvent.objects.get()
    assert (Project.objects.get().slug, event.detail) == ("shop", {"before": "Shop", "after": "The Shop"})


def test_a_member_is_added_once_changed_and_removed(project, admin, stranger_user):
    member = actions.add_member(by=admin, project=project, user=stranger_user, role="viewer")
    assert actions.add_member(by=admin, project=project, user=stranger_user, role="viewer") == member
    actions.change_role(by=admin, member=member, role="curator")
    actions.change_role(by=admin, member=member, role="curator")
    left = Membership.objects.get(pk=member.pk)  # as another admin's request has it, who was a moment later
    actions.remove_member(by=admin, member=member)
    actions.remove_member(by=admin, member=left)
    with pytest.raises(ValidationError, match="not in this project any more"):
        actions.change_role(by=admin, member=left, role="viewer")
    assert [verb for verb, _who, _by in events(project)] == ["add_member", "change_role", "remove_member"]
    assert not Membership.objects.filter(project=project, user=stranger_user).exists()


def test_the_last_admin_stays(project, admin, admin_user):
    member = Membership.objects.get(user=admin_user)
    with pytest.raises(ValidationError, match="last admin"):
        actions.remove_member(by=admin, member=member)
    with pytest.raises(ValidationError, match="last admin"):
        actions.change_role(by=admin, member=member, role="viewer")
    second = make_user("bo", project, "admin")
    actions.remove_member(by=manager(second), member=member)
    assert Membership.objects.get(project=project, role="admin").user == second


def test_a_deactivated_admin_does_not_count_as_one(project, admin, admin_user):
    gone = make_user("bo", project, "admin")
    gone.is_active = False
    gone.save()
    with pytest.raises(ValidationError):
        actions.remove_member(by=admin, member=Membership.objects.get(user=admin_user))


def test_a_role_is_one_of_three(project, admin, curator_user):
    with pytest.raises(ValidationError):
        actions.change_role(by=admin, member=Membership.objects.get(user=curator_user), role="owner")


@pytest.mark.parametrize("who", ["curator_user", "viewer_user", "stranger_user"])
def test_nobody_but_an_admin_manages_access(request, project, who, viewer_user):
    by = manager(request.getfixturevalue(who))
    token, _text = make_token(project)
    member = Membership.objects.get(user=viewer_user)
    acts = [
        lambda: naming.rename_project(by=by, project=project, name="Mine"),
        lambda: actions.add_member(by=by, project=project, user=by.user, role="admin"),
        lambda: actions.change_role(by=by, member=member, role="admin"),
        lambda: actions.remove_member(by=by, member=member),
        lambda: actions.create_token(by=by, project=project, name="x", agent_name="x"),
        lambda: actions.revoke_token(by=by, project=project, token=token),
        lambda: actions.create_account(by=by, username="x"),
    ]
    for act in acts:
        with pytest.raises(PermissionDenied):
            act()
    assert not AccessEvent.objects.exists()


def test_a_token_is_found_by_its_text_which_is_nowhere_kept(project, admin):
    token, text = actions.create_token(by=admin, project=project, name="ci", agent_name="order-bot", days=30)
    assert find_token(text) == token
    assert (token.scopes, token.hint, token.created_by) == (["read", "write"], text[-4:], admin.user)
    row = AgentToken.objects.filter(pk=token.pk).values().get()
    event = AccessEvent.objects.filter(verb="create_token").values().get()
    assert text not in str(row) + str(event)
    assert text[4:] not in str(row) + str(event)


@pytest.mark.parametrize(
    "wrong",
    [
        {"scopes": []},
        {"scopes": ["read", "own"]},
        {"days": 0},
        {"days": 10**9},
        {"agent_name": ""},
        {"name": "x" * 101},
    ],
)
def test_a_token_with_wrong_fields_is_refused(project, admin, wrong):
    with pytest.raises(ValidationError):
        actions.create_token(by=admin, project=project, **{"name": "ci", "agent_name": "order-bot", **wrong})
    assert not AgentToken.objects.exists()


def test_a_revoked_token_is_dead_at_once_and_revoking_again_changes_nothing(project, admin):
    token, text = actions.create_token(by=admin, project=project, name="ci", agent_name="order-bot")
    actions.revoke_token(by=admin, project=project, token=token)
    actions.revoke_token(by=admin, project=project, token=token)
    assert find_token(text) is None
    assert [verb for verb, _who, _by in events(project)] == ["create_token", "revoke_token"]


def test_a_token_of_other_peoples_projects_only_leaves_this_one(project, other_project, admin):
    token, text = actions.create_token(by=OPERATOR, project=project, name="ci", agent_name="order-bot")
    token.projects.add(other_project)
    actions.revoke_token(by=admin, project=project, token=token)
    assert list(find_token(text).projects.all()) == [other_project]
    actions.revoke_token(by=OPERATOR, project=other_project, token=token)
    assert find_token(text) is None

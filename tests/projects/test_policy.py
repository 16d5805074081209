"""The policy of a project: its defaults, who changes it, what is kept of that, what a wrong value is answered with."""

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from projects.access import access_of_user
from projects.manager import Manager
from projects.models import AccessEvent, ProjectPolicy
from projects.policies import change_policy
from projects.queries import policy_of, recalling_reviewed_only

pytestmark = [pytest.mark.database, pytest.mark.django_db]
PAGE = "/p/shop/project/"
FIELDS = {
    "quarantine_findings": "on",
    "auto_approve_trust": "",
    "stale_after_days": "180",
    "duplicate_cosine": "0.85",
    "prior_weight": "4",
    "confidence_half_life_days": "",
    "keep_reads_days": "",
    "reason": "We trust it by now.",
}


def manager(user) -> Manager:
    return Manager(name=user.username, access=access_of_user(user), channel="web", user=user)


@pytest.fixture
def as_admin(client, admin_user):
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_a_project_without_a_row_has_the_defaults(project):
    policy = policy_of(project.pk)
    assert policy.pk is None
    assert policy.quarantine_findings is True
    assert policy.auto_approve_trust is None
    assert policy.reviewed_only_recall is False
    assert policy_of(None).quarantine_findings is True


def test_an_admin_changes_it_and_each_change_is_in_the_log(as_admin, project, other_project):
    fields = {**FIELDS, "auto_approve_trust": "0.8", "reviewed_only_recall": "on", "stale_after_days": ""}
    response = as_admin.post(f"{PAGE}policy/", fields)
    assert response.status_code == 303
    policy = policy_of(project.pk)
    assert (policy.auto_approve_trust, policy.reviewed_only_recall, policy.stale_after_days) == (
        0.8,
        True,
        None,
    )
    assert recalling_reviewed_only([project.pk, other_project.pk]) == {project.pk}
    events = AccessEvent.objects.filter(project=project, verb="change_policy").order_by("subject")
    assert [(event.subject, event.detail["before"], event.detail["after"]) for event in events] == [
        ("auto_approve_trust", None, 0.8),
        ("reviewed_only_recall", False, True),
        ("stale_after_days", 180, None),
    ]
    page = as_admin.get(PAGE).content.decode()
    assert "Approve writes of agents trusted at least" in page
    assert "never → 0.80" in page
    assert "We trust it by now." in page


def test_the_same_again_changes_nothing_and_leaves_no_event(as_admin, project):
    assert as_admin.post(f"{PAGE}policy/", FIELDS).status_code == 303
    assert not AccessEvent.objects.filter(verb="change_policy").exists()
    assert not ProjectPolicy.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"auto_approve_trust": "1.5"},
        {"auto_approve_trust": "-0.1"},
        {"auto_approve_trust": "nan"},
        {"auto_approve_trust": "x"},
        {"stale_after_days": "0"},
        {"stale_after_days": "99999999999"},
        {"duplicate_cosine": "0.2"},
        {"duplicate_cosine": ""},
        {"reason": ""},
        {"reason": "x" * 501},
        {"reason": "a\x00b"},
    ],
)
def test_a_wrong_form_says_why_and_changes_nothing(as_admin, project, wrong):
    response = as_admin.post(f"{PAGE}policy/", {**FIELDS, "reviewed_only_recall": "on", **wrong})
    assert response.status_code == 422
    assert "errorlist" in response.content.decode()
    assert not ProjectPolicy.objects.exists()


def test_only_an_admin_may_and_only_what_there_is(project, admin_user, curator_user, stranger_user):
    for user in (curator_user, stranger_user):
        with pytest.raises(PermissionDenied):
            change_policy(
                by=manager(user), project=project, changes={"reviewed_only_recall": True}, reason="x"
            )
    with pytest.raises(ValidationError):
        change_policy(by=manager(admin_user), project=project, changes={"slug": "x"}, reason="x")
    with pytest.raises(ValidationError):
        change_policy(
            by=manager(admin_user), project=project, changes={"auto_approve_trust": 7.0}, reason="x"
        )
    with pytest.raises(ValidationError):
        change_policy(by=manager(admin_user), project=project, changes={"quarantine_findings": False})


def test_viewers_read_the_policy_without_its_form(client, viewer_user, project):
    client.force_login(viewer_user, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(PAGE).content.decode()
    assert "Quarantine what is flagged" in page
    assert "policy/" not in page

"""What happens to agents' writes in a project, and who changed that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from database.transactions import transactional
from projects.manager import Manager, checked_reason, lock_project, note
from projects.models import AccessVerb, Project, ProjectPolicy
from projects.queries import POLICY_COLUMNS, policy_of


@transactional
def change_policy(
    *, by: Manager, project: Project, changes: Mapping[str, Any], reason: str = ""
) -> ProjectPolicy:
    """Set some of POLICY_COLUMNS; one access event for each that differs. Raises ValidationError."""
    by.require(project)
    unknown = set(changes) - set(POLICY_COLUMNS)
    if unknown:
        raise ValidationError({name: _("There is no such policy.") for name in sorted(unknown)})
    reason = checked_reason(reason)
    lock_project(project)
    policy = policy_of(project.pk)
    differ = {name: value for name, value in changes.items() if getattr(policy, name) != value}
    if not differ:
        return policy
    if not reason:
        raise ValidationError({"reason": _("Say why: the next admin needs it.")})
    before = {name: getattr(policy, name) for name in differ}
    for name, value in differ.items():
        setattr(policy, name, value)
    policy.clean_fields(exclude=["project"])
    policy.save()
    for name in differ:
        note(
            by,
            AccessVerb.CHANGE_POLICY,
            project,
            name,
            before=before[name],
            after=differ[name],
            reason=reason,
        )
    return policy

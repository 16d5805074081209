"""For operators. Projects' people and tokens are changed on the project page, where each act leaves an event."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from projects.models import AccessEvent, Membership, Project, ProjectPolicy, User


@admin.register(User)
class AccountAdmin(UserAdmin):
    """Accounts are deactivated, not deleted: history names them."""

    fieldsets = (
        *(UserAdmin.fieldsets or ()),
        (_("Memory Desk"), {"fields": ("time_zone", "theme", "density")}),
    )

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Project)
class ProjectAdmin(ReadOnly):
    list_display = ("name", "slug", "created_at")
    search_fields = ("name", "slug")


@admin.register(Membership)
class MembershipAdmin(ReadOnly):
    list_display = ("user", "project", "role", "created_at")
    list_filter = ("role", "project")
    list_select_related = ("user", "project")


@admin.register(ProjectPolicy)
class ProjectPolicyAdmin(ReadOnly):
    list_display = ("project", "quarantine_findings", "auto_approve_trust", "reviewed_only_recall")
    list_select_related = ("project",)


@admin.register(AccessEvent)
class AccessEventAdmin(ReadOnly):
    list_display = ("created_at", "actor_name", "verb", "subject", "project", "channel")
    list_filter = ("verb", "project")
    list_select_related = ("project",)

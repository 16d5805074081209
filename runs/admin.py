from django.contrib import admin
from django.http import HttpRequest

from records.admin import RecordAdmin
from runs import actions
from runs.models import Run


@admin.register(Run)
class RunAdmin(RecordAdmin):
    list_display = (
        "node_id",
        "agent_name",
        "trigger_type",
        "status",
        "escalated_to_human",
        "started_at",
        "project",
    )
    list_filter = ("status", "escalated_to_human", *RecordAdmin.list_filter)
    search_fields = ("agent_name",)
    editable = actions.EDITABLE
    edit_action = staticmethod(actions.edit_run)
    argument = "run"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

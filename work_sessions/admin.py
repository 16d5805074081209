from django.contrib import admin
from django.http import HttpRequest

from records.admin import RecordAdmin
from work_sessions import actions
from work_sessions.models import WorkSession


@admin.register(WorkSession)
class WorkSessionAdmin(RecordAdmin):
    list_display = ("node_id", "session_id", "started_at", "ended_at", "project")
    search_fields = ("session_id",)
    editable = actions.EDITABLE
    edit_action = staticmethod(actions.edit_session)
    argument = "session"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

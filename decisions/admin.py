from django.contrib import admin
from django.http import HttpRequest

from decisions import actions
from decisions.models import Decision, Outcome
from records.admin import RecordAdmin


@admin.register(Decision)
class DecisionAdmin(RecordAdmin):
    list_display = ("node_id", "title", "status", "review_state", "project", "decided_at")
    list_filter = ("status", *RecordAdmin.list_filter)
    search_fields = ("title",)
    editable = actions.EDITABLE
    create_action = staticmethod(actions.create_decision)
    edit_action = staticmethod(actions.edit_decision)
    argument = "decision"


@admin.register(Outcome)
class OutcomeAdmin(RecordAdmin):
    """Outcomes are made on their decision's page; here they are corrected."""

    list_display = ("node_id", "type", "success_rate", "decision", "review_state", "occurred_at")
    list_select_related = ("project", "decision")
    search_fields = ("note",)
    editable = actions.OUTCOME_EDITABLE
    edit_action = staticmethod(actions.edit_outcome)
    argument = "outcome"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

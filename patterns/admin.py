from django.contrib import admin

from patterns import actions
from patterns.models import Pattern
from records.admin import RecordAdmin


@admin.register(Pattern)
class PatternAdmin(RecordAdmin):
    list_display = (
        "node_id",
        "name",
        "category",
        "confidence_score",
        "usage_count",
        "review_state",
        "project",
    )
    search_fields = ("name",)
    editable = actions.EDITABLE
    create_action = staticmethod(actions.create_pattern)
    edit_action = staticmethod(actions.edit_pattern)
    argument = "pattern"

from django.contrib import admin

from pitfalls import actions
from pitfalls.models import Pitfall
from records.admin import RecordAdmin


@admin.register(Pitfall)
class PitfallAdmin(RecordAdmin):
    list_display = (
        "node_id",
        "title",
        "category",
        "severity",
        "encountered_count",
        "review_state",
        "project",
    )
    list_filter = ("severity", *RecordAdmin.list_filter)
    search_fields = ("title",)
    editable = actions.EDITABLE
    create_action = staticmethod(actions.create_pitfall)
    edit_action = staticmethod(actions.edit_pitfall)
    argument = "pitfall"

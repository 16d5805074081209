"""The admin for operators: the same verbs as every other door, with a reason and a version on each form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminTextareaWidget
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import JSONField
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from records.actor import Actor, Channel
from records.errors import Conflict, InvalidInput, NotAllowed
from records.forms import JSONTextField, LongTextField, keep_line_ends
from records.models import Link, LongText, ProjectionMark, Revision


class RecordAdminForm(forms.ModelForm):
    reason = forms.CharField(label=_("Why"), max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))
    expected_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    refusal: ClassVar[Conflict | InvalidInput | None] = None  # what the verb answered to these very values

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["expected_version"].initial = self.instance.version if self.instance.pk else None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        keep_line_ends(self, cleaned)
        expected = cleaned.get("expected_version")
        if self.instance.pk:
            kept = type(self.instance).objects.values_list("version", flat=True).get(pk=self.instance.pk)
            if expected != kept:
                raise ValidationError(
                    _t(
                        "Someone saved version %(kept)s while this form showed %(seen)s. Open it again to see both."
                    ),
                    params={"kept": kept, "seen": expected},
                )
        if isinstance(self.refusal, InvalidInput):
            for name, found in self.refusal.errors.items():
                self.add_error(name if name in self.fields else None, found)
        elif self.refusal is not None:
            self.add_error(None, str(self.refusal))
        return cleaned

    def _save_m2m(self) -> None:
        """Records have no many-to-many columns."""


class RecordAdmin(admin.ModelAdmin):
    """Subclasses say which columns a form shows and which actions write them."""

    form = RecordAdminForm
    formfield_overrides = {
        JSONField: {"form_class": JSONTextField},
        LongText: {"form_class": LongTextField, "widget": AdminTextareaWidget},
    }
    actions = None
    list_select_related: ClassVar[tuple[str, ...]] = ("project",)
    list_filter: ClassVar[tuple[str, ...]] = ("review_state", "source_kind")
    show_full_result_count = False
    editable: ClassVar[tuple[str, ...]] = ()
    create_action: Callable[..., Any]
    edit_action: Callable[..., Any]
    argument: ClassVar[str] = ""

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        shown = [name for name in self.editable if name != "decided_precision"]
        return [*([] if obj else ["project"]), *shown, "reason", "expected_version"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        actor = Actor.person(request, Channel.ADMIN)
        names = form.changed_data if change else form.cleaned_data
        changes = {name: form.cleaned_data[name] for name in names if name in self.editable}
        reason = form.cleaned_data["reason"]
        if change:
            saved = type(self).edit_action(
                actor=actor, **{self.argument: obj}, changes=changes, reason=reason,
                expected_version=form.cleaned_data["expected_version"],
            )  # fmt: skip
        else:
            given = {name: value for name, value in changes.items() if value not in (None, "")}
            saved = type(self).create_action(
                actor=actor, project=form.cleaned_data["project"], reason=reason, **given
            )
        obj.pk, obj.version = saved.pk, saved.version

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change, **options)
        return type(form.__name__, (form,), {"refusal": getattr(request, "refusal", None)})

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """A verb's refusal is shown on the form, with everything typed still in it."""
        try:
            return super().changeform_view(request, *args, **options)
        except NotAllowed as error:
            raise PermissionDenied from error
        except (Conflict, InvalidInput) as error:
            request.refusal = error  # type: ignore[attr-defined]
            return super().changeform_view(request, *args, **options)


class ReadOnlyAdmin(admin.ModelAdmin):
    """Tables that only verbs and the worker write."""

    actions = None
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Revision)
class RevisionAdmin(ReadOnlyAdmin):
    list_display = ("node_id", "version", "verb", "channel", "actor_name", "created_at")
    list_filter = ("channel", "kind")
    search_fields = ("=node_id",)


@admin.register(Link)
class LinkAdmin(ReadOnlyAdmin):
    list_display = ("source", "relation", "target", "source_name", "created_at")
    list_filter = ("relation",)
    search_fields = ("=source", "=target")


@admin.register(ProjectionMark)
class ProjectionMarkAdmin(ReadOnlyAdmin):
    list_display = (
        "node_id",
        "wanted_version",
        "embedded_version",
        "projected_version",
        "attempts",
        "dead",
        "error",
    )
    list_filter = ("dead", "kind")
    search_fields = ("=node_id",)

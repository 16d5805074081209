"""What the compare page is asked for, and what is said on it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from projects.models import Project
from records.kinds import parse_node_id
from records.queries import records_by_node_id


class CompareForm(forms.Form):
    """Two records of the project by their ids; `records` holds them once the form is valid."""

    a = forms.CharField(label=_("One record"), max_length=40, help_text=_("By its id, such as dec_12."))
    b = forms.CharField(label=_("The other record"), max_length=40)

    def __init__(self, *args: Any, project: Project, **options: Any) -> None:
        super().__init__(*args, **options)
        self.project = project
        self.records: tuple[Any, Any] | None = None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        asked = [cleaned[name] for name in ("a", "b") if parse_node_id(cleaned.get(name, ""))]
        found = records_by_node_id(asked, [self.project.pk])
        for name in ("a", "b"):
            if name in cleaned and cleaned[name] not in found:
                self.add_error(name, _t("There is no such record in this project."))
        if cleaned.get("a") and cleaned.get("a") == cleaned.get("b"):
            self.add_error("b", _t("A record cannot be compared with itself."))
        if not self.errors:
            self.records = found[cleaned["a"]], found[cleaned["b"]]
            for record in self.records:
                record.project = self.project
        return cleaned

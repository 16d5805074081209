"""The parameters of a neighbourhood, the same for the page, its JSON and the address that people share."""

from __future__ import annotations

import math
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from graph.store import MAX_CAP, MAX_DEPTH, Relation, Within
from records.kinds import graph_kinds, parse_node_id

DEFAULTS = {"depth": 2, "score": 0.6, "cap": 30}
DEPTHS = range(1, MAX_DEPTH + 1)


def check_node_id(text: str) -> None:
    parsed = parse_node_id(text)
    if parsed is None or not parsed[0].graph_label:
        raise ValidationError(_t("“%s” is no record's id; one looks like dec_123.") % text[:60])


class NodeIdsField(forms.CharField):
    """Node ids, comma-separated."""

    def to_python(self, value: Any) -> Any:
        return [part for part in (super().to_python(value) or "").split(",") if part]

    def validate(self, value: Any) -> None:
        super().validate(value)
        if len(value) > MAX_CAP:
            raise ValidationError(_t("No more than %d.") % MAX_CAP)
        for node_id in value:
            check_node_id(node_id)

    def run_validators(self, value: Any) -> None:
        super().run_validators(",".join(value))


class FilterForm(forms.Form):
    """What both questions (neighbourhood, path) filter by. A parameter it does not know is an error, not ignored."""

    relation = forms.MultipleChoiceField(choices=Relation.choices, required=False, label=_("Relations"))
    kind = forms.MultipleChoiceField(required=False, label=_("Kinds"))
    score = forms.FloatField(min_value=0, max_value=1, required=False, label=_("Cosine"))
    show = forms.ChoiceField(
        choices=[("active", _("active only")), ("all", _("everything"))], required=False, label=_("Show")
    )
    besides: tuple[str, ...] = ()

    def __init__(self, given: QueryDict) -> None:
        super().__init__(given)
        self.fields["kind"].choices = [(kind.name, kind.label) for kind in graph_kinds()]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in sorted(set(self.data) - set(self.fields) - set(self.besides)):
            self.add_error(None, _t("There is no parameter “%s”.") % name[:60])
        return cleaned

    def value(self, name: str) -> Any:
        """What was asked, or the default where nothing was."""
        given = self.cleaned_data.get(name)
        return DEFAULTS[name] if given is None else given

    def within(self, project_id: int) -> Within:
        return Within(
            project_id=project_id,
            relations=frozenset(map(Relation, self.cleaned_data["relation"])) or frozenset(Relation),
            min_score=self.value("score"),
            kinds=frozenset(self.cleaned_data["kind"]) or None,
            hidden=self.cleaned_data["show"] == "all",
        )

    @property
    def problems(self) -> dict[str, list[str]]:
        return {name: [str(message) for message in messages] for name, messages in self.errors.items()}

    @property
    def query(self) -> dict[str, Any]:
        """What the filter bar shows."""
        score = math.floor(self.value("score") * 100) / 100
        return {
            "depth": self.value("depth"),
            "cap": self.value("cap"),
            "score": f"{score:.2f}",
            "show": self.cleaned_data["show"] or "active",
        }


class NeighbourhoodForm(FilterForm):
    node = forms.CharField(max_length=40, required=False, validators=[check_node_id], label=_("Record"))
    depth = forms.IntegerField(min_value=1, max_value=MAX_DEPTH, required=False, label=_("Depth"))
    cap = forms.IntegerField(min_value=1, max_value=MAX_CAP, required=False, label=_("Nodes at most"))


class PageForm(NeighbourhoodForm):
    """The page's address also says what was unfolded in the picture; graph.js reads that."""

    expand = forms.CharField(max_length=40, required=False, validators=[check_node_id])
    selected = forms.CharField(max_length=40, required=False, validators=[check_node_id])
    view = forms.ChoiceField(choices=[("picture", ""), ("table", "")], required=False)


class DataForm(NeighbourhoodForm):
    known = NodeIdsField(required=False, label=_("Nodes drawn already"))

    def __init__(self, given: QueryDict) -> None:
        super().__init__(given)
        self.fields["node"].required = True


class PathForm(FilterForm):
    node = forms.CharField(max_length=40, validators=[check_node_id], label=_("From"))
    to = forms.CharField(max_length=40, validators=[check_node_id], label=_("To"))
    besides = ("depth", "cap")

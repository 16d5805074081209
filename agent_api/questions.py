"""The query parameters of the questions asked of one record."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter

from agent_api.problems import InvalidQuery
from agent_api.serializers import projects_of
from graph.forms import DEFAULTS, NeighbourhoodForm
from graph.store import MAX_CAP, MAX_DEPTH, Relation
from projects.names import must_be_one_of, named_among
from recall.similar import LEAST_COSINE
from records.actor import Actor
from records.kinds import all_kinds

SIMILAR_DEFAULT, SIMILAR_MOST = 10, 100
MANY = ("relation", "kind")
YES_NO = [("true", "true"), ("false", "false")]


class SimilarForm(forms.Form):
    k = forms.IntegerField(min_value=1, max_value=SIMILAR_MOST, required=False)
    score = forms.FloatField(min_value=-1, max_value=1, required=False)
    kind = forms.MultipleChoiceField(required=False)
    reviewed_only = forms.ChoiceField(choices=YES_NO, required=False)
    show = forms.ChoiceField(choices=[("active", "active"), ("all", "all")], required=False)

    def __init__(self, given: QueryDict) -> None:
        super().__init__(given)
        self.fields["kind"].choices = [(kind.name, kind.name) for kind in all_kinds()]  # type: ignore[attr-defined]

    def options(self) -> dict[str, Any]:
        """The keyword arguments of `similar_records`."""
        asked = self.cleaned_data
        return {
            "k": asked["k"] or SIMILAR_DEFAULT,
            "min_score": LEAST_COSINE if asked["score"] is None else asked["score"],
            "kinds": asked["kind"] or None,
            "reviewed_only": asked["reviewed_only"] == "true",
            "include_hidden": asked["show"] == "all",
        }


def similar_form(given: QueryDict) -> SimilarForm:
    only(given, *SimilarForm.base_fields)
    return checked(SimilarForm(given))


def neighbourhood_form(given: QueryDict, node_id: str) -> NeighbourhoodForm:
    """The graph page's own form; the record comes from the address."""
    only(given, *(name for name in NeighbourhoodForm.base_fields if name != "node"))
    asked = given.copy()
    asked["node"] = node_id
    return checked(NeighbourhoodForm(asked))


def only(given: QueryDict, *allowed: str) -> None:
    """No parameter but these, each once."""
    errors = {name: [_("There is no such parameter.")] for name in given if name not in allowed}
    for name, values in given.lists():
        if len(values) > 1 and name not in MANY:
            errors.setdefault(name, [_("Can be given only once.")])
    if errors:
        raise InvalidQuery(errors)


def project_ids_of(actor: Actor, slug: str | None) -> list[int]:
    """The token's projects, or the one of them that is called so."""
    projects = projects_of(actor)
    if not slug:
        return [project.pk for project in projects]
    named = named_among(projects, slug)
    if named is None:
        raise InvalidQuery({"project": [must_be_one_of(projects, slug)]})
    return [named.pk]


def checked(form: Any) -> Any:
    if not form.is_valid():
        raise InvalidQuery({name: [str(said) for said in errors] for name, errors in form.errors.items()})
    return form


KIND = OpenApiParameter("kind", str, many=True, description="Only these kinds.")
SHOW = OpenApiParameter(
    "show", str, enum=["active", "all"], default="active", description="all: hidden ones too."
)
SIMILAR_PARAMETERS = [
    OpenApiParameter("k", int, default=SIMILAR_DEFAULT, description=f"How many, 1 to {SIMILAR_MOST}."),
    OpenApiParameter("score", float, default=LEAST_COSINE, description="Cosine at least, -1 to 1."),
    KIND,
    OpenApiParameter("reviewed_only", bool, default=False, description="Only what a person approved."),
    SHOW,
]
NEIGHBOURHOOD_PARAMETERS = [
    OpenApiParameter("depth", int, default=DEFAULTS["depth"], description=f"Steps, 1 to {MAX_DEPTH}."),
    OpenApiParameter("relation", str, many=True, enum=Relation.values, description="Only along these."),
    OpenApiParameter("score", float, default=DEFAULTS["score"], description="Cosine of SIMILAR_TO at least."),
    KIND,
    OpenApiParameter("cap", int, default=DEFAULTS["cap"], description=f"Nodes at most, 1 to {MAX_CAP}."),
    SHOW,
]
HISTORY_PARAMETERS = [
    OpenApiParameter("before", int, description="From next: only older ones."),
    OpenApiParameter("page_size", int, default=50, description="Items in the answer, 1 to 200."),
]

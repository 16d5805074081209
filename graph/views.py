"""The graph page, and the JSON it is drawn from."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from graph.answers import neighbourhood_answer, path_answer, table_rows
from graph.forms import DEPTHS, DataForm, FilterForm, NeighbourhoodForm, PageForm, PathForm
from graph.queries import graph_store, start_node
from graph.store import GraphStore, Neighbourhood, NoSuchNode, Relation
from projects.access import in_project
from projects.models import Project
from projects.snippets import import_command
from records.kinds import graph_kinds

PAGE = "graph/neighbourhood.html"


@require_safe
@in_project()
def neighbourhood(request: HttpRequest, project: Project) -> HttpResponse:
    """`/p/shop/graph/?node=dec_12&depth=2&score=0.70`: one record and what surrounds it."""
    form = PageForm(request.GET)
    if not form.is_valid():
        asked = request.GET.get("node", "")
        return render(request, PAGE, {"asked": asked, "problems": _said(form)}, status=400)
    node_id = form.cleaned_data["node"] or start_node(project)
    if node_id is None:
        return render(
            request,
            PAGE,
            {"empty": True, "import_command": import_command(project)},
        )
    store = graph_store()
    try:
        hood = _neighbourhood(store, form, project, node_id)
    except NoSuchNode:
        return render(request, PAGE, {"asked": node_id, "absent": True}, status=404)
    return render(request, PAGE, _page(form, project, hood, store.name))


@require_http_methods(["GET", "POST"])
@in_project()
def data(request: HttpRequest, project: Project) -> JsonResponse:
    """The same as JSON. A POST reads too: the ids that are drawn already may be longer than an address."""
    form = DataForm(request.POST if request.method == "POST" else request.GET)
    if not form.is_valid():
        return _problem(400, _("These parameters cannot be read."), form.problems)
    store = graph_store()
    try:
        hood = _neighbourhood(store, form, project, form.cleaned_data["node"])
    except NoSuchNode as error:
        return _problem(404, _("%s is not in this project.") % error)
    return JsonResponse(neighbourhood_answer(hood, project.slug, store.name))


@require_safe
@in_project()
def path(request: HttpRequest, project: Project) -> JsonResponse:
    """The shortest way between two records within the filters, as JSON; no nodes where there is none."""
    form = PathForm(request.GET)
    if not form.is_valid():
        return _problem(400, _("These parameters cannot be read."), form.problems)
    store, asked = graph_store(), form.cleaned_data
    try:
        found = store.path(asked["node"], asked["to"], form.within(project.pk))
    except NoSuchNode as error:
        return _problem(404, _("%s is not in this project.") % error)
    return JsonResponse(path_answer(found, project.slug, store.name))


def _neighbourhood(
    store: GraphStore, form: NeighbourhoodForm, project: Project, node_id: str
) -> Neighbourhood:
    return store.neighbourhood(
        node_id,
        form.within(project.pk),
        depth=form.value("depth"),
        cap=form.value("cap"),
        known=form.cleaned_data.get("known", ()),
    )


def _page(form: PageForm, project: Project, hood: Neighbourhood, answered_by: str) -> dict[str, Any]:
    within, center = form.within(project.pk), hood.nodes[0]
    answer = neighbourhood_answer(hood, project.slug, answered_by)
    return {
        "center": {"node_id": center.id, "title": center.title},
        "hood": hood,
        "first": json.dumps(answer),
        "edges": table_rows(answer),
        "query": form.query,
        "depths": DEPTHS,
        "relations": [
            {"value": relation.value, "label": relation.label, "chosen": relation in within.relations}
            for relation in Relation
        ],
        "kinds": [
            {
                "value": kind.name,
                "label": kind.label_plural,
                "one": kind.label,
                "chosen": within.kinds is None or kind.name in within.kinds,
            }
            for kind in graph_kinds()
        ],
        "source_url": reverse("graph:data", args=[project.slug]),
        "path_url": reverse("graph:path", args=[project.slug]),
        "graph_store": "neo4j" if settings.GRAPH_URL else "relational",
    }


def _said(form: FilterForm) -> list[str]:
    """Each problem in one line that names its parameter."""
    said = []
    for name, messages in form.problems.items():
        label = form.fields[name].label or name if name in form.fields else ""
        said += [f"{label}: {message}" if label else message for message in messages]
    return said


def _problem(status: int, title: str, errors: dict[str, list[str]] | None = None) -> JsonResponse:
    body: dict[str, Any] = {"type": "about:blank", "title": title, "status": status}
    if errors:
        body["errors"] = errors
    return JsonResponse(body, status=status, content_type="application/problem+json")

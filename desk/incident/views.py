"""The incident view: from a pasted alert to what was done the last time, in one screen."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from desk.incident import queries
from desk.incident.actions import keep_alert
from desk.incident.alerts import title_of, words_of
from desk.incident.forms import AddressedAlertForm, AlertForm
from desk.incident.markdown import markdown_of
from desk.incident.rows import incident_row, known_row
from desk.incident.screen import Screen, look
from projects.access import in_project
from projects.models import Project, User
from projects.responses import SeeOther
from projects.snippets import address_of, incidents_command, postmortems_command
from records.one_line import one_line

TEMPLATE = "desk/incident.html"
# What a curl to copy may hold of the alert.
LONGEST_IN_COMMAND = 2_000
# A longer one is not put into the form of the next question a second time.
LONGEST_IN_FORM = 20_000


@require_http_methods(["GET", "HEAD", "POST"])
@in_project()
def ask(request: HttpRequest, project: Project) -> HttpResponse:
    """`/p/shop/incident/`: paste an alert, and go on to its own address. `?text=…` shows the answer at once."""
    if request.method == "POST":
        form = AlertForm(request.POST)
        if form.is_valid():
            user = request.user if isinstance(request.user, User) else None
            alert = keep_alert(project=project, user=user, **form.cleaned_data)
            return SeeOther(reverse("incident:alert", args=[project.slug, alert.key]))
        return _page(request, project, form, status=422)
    if not request.GET:
        return _page(request, project, AlertForm())
    addressed = AddressedAlertForm(request.GET)
    if not addressed.is_valid():
        return _page(request, project, addressed, status=422)
    return _answer(request, project, addressed.cleaned_data["text"], addressed.cleaned_data["agent"])


@require_safe
@in_project()
def alert(request: HttpRequest, project: Project, key: str) -> HttpResponse:
    """`/p/shop/incident/3f9a…/`: the address to pass on. What it shows is looked up anew each time."""
    kept = queries.alert_named(project, key)
    if kept is None:
        gone = _(
            "This alert is no longer kept, or never was. Paste it again: the same text has the same answers."
        )
        return _page(request, project, AlertForm(), status=404, gone=gone)
    return _answer(request, project, kept.text, kept.agent, secrets=kept.secrets)


def _answer(request: HttpRequest, project: Project, text: str, agent: str, **context: Any) -> HttpResponse:
    words = words_of(text)
    screen = look(project, words, title_of(words), agent=agent)
    site = address_of(request)
    address = f"{site}{request.get_full_path()}"
    form = AlertForm(initial={"text": text if len(text) <= LONGEST_IN_FORM else "", "agent": agent})
    command = incidents_command(site, _asked(project, text, agent)) if len(text) <= LONGEST_IN_COMMAND else ""
    rows = [incident_row(one) for one in screen.incidents]
    context |= {
        "screen": screen,
        "alert_text": text,
        "agent": agent,
        "incidents": rows,
        "pitfalls": [known_row(one) for one in screen.pitfalls],
        "decisions": [known_row(one) for one in screen.decisions],
        "markdown": markdown_of(screen, rows, address, site),
        "command": command,
        "learnt": _learnt(screen, address),
    }
    return _page(request, project, form, **context)


def _asked(project: Project, text: str, agent: str) -> dict[str, Any]:
    return {"project": project.slug, "text": text, **({"agent": agent} if agent else {})}


def _learnt(screen: Screen, address: str) -> str:
    """What the form of something learnt begins with."""
    runs = ", ".join(one.record.node_id for one in screen.incidents[:3])
    lines = [one_line(screen.title, 200), address]
    if runs:
        lines.append(_("Similar: %s") % runs)
    return "\n".join(lines)


def _page(
    request: HttpRequest, project: Project, form: AlertForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    context |= {
        "form": form,
        "agents": queries.agents_of(project),
        "import_command": postmortems_command(project),
    }
    return render(request, TEMPLATE, context, status=status)

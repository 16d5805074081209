"""The compare page, and what is said of a pair or a cluster: on that page and in the inbox."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from curation.inbox.asked import Asked
from curation.inbox.page import next_key, queue_or_404
from curation.models import Verdict
from curation.pairs.actions import settle, settle_pairs
from curation.pairs.forms import CompareForm
from curation.pairs.pages import compare_context
from curation.pairs.queries import cluster_of
from projects.access import Capability, in_project
from projects.models import Project
from records.actor import Actor
from records.acts import one_act
from records.errors import Conflict, InvalidInput, Refused
from records.pages.editing import done, refused

# Of the second record what the button says of the first.
REVERSED = "superseded"


@require_safe
@in_project()
def compare(request: HttpRequest, project: Project) -> HttpResponse:
    """Any two records of the project side by side; without two, a form that asks for them."""
    form = CompareForm(request.GET if {"a", "b"} & request.GET.keys() else None, project=project)
    if form.is_bound and form.is_valid() and form.records:
        return render(request, "pairs/compare.html", compare_context(request, *form.records))
    return render(request, "pairs/ask.html", {"form": form}, status=422 if form.is_bound else 200)


@require_POST
@in_project(Capability.REVIEW)
def settle_pair(request: HttpRequest, project: Project) -> HttpResponse:
    """One verdict on two records. The address carries on that of the inbox, where it was given there."""
    one, other = _two_of(request, project)
    verdict = request.POST.get("verdict", "")
    if verdict == REVERSED:
        one, other, verdict = other, one, str(Verdict.SUPERSEDES)

    def act(actor: Actor, reason: str) -> str:
        settle(one, other, verdict, actor=actor, reason=reason, expected_versions=_versions(request))
        return _said(one.node_id, other.node_id, verdict)

    return _acted(request, project, act, _compare_url(project, one.node_id, other.node_id))


@require_POST
@in_project(Capability.REVIEW)
def keep_apart(request: HttpRequest, project: Project) -> HttpResponse:
    """All records of a cluster stay, as records of their own: what was suggested of them is unrelated."""
    one, other = _two_of(request, project)
    cluster = cluster_of(project, one.node_id, other.node_id)

    def act(actor: Actor, reason: str) -> str:
        if cluster is None:
            raise Refused(_("Nothing is suggested of these two any more."), one.node_id)
        settle_pairs(cluster.pairs, Verdict.UNRELATED, actor=actor, reason=reason)
        return _("%s records stay apart") % len(cluster.members)

    return _acted(request, project, act, _compare_url(project, one.node_id, other.node_id))


def _acted(
    request: HttpRequest, project: Project, act: Callable[[Actor, str], str], otherwise: str
) -> HttpResponse:
    asked = Asked.of(request, project)
    here, following = otherwise, otherwise
    if asked.queue:
        keys = queue_or_404(asked).keys(asked)
        here = asked.url(selected=asked.selected or None)
        following = asked.url(selected=next_key(keys, asked.selected) or None)
    try:
        with one_act() as act_id:
            said = act(Actor.person(request), request.POST.get("reason", ""))
    except InvalidInput as error:
        return refused(request, error, here)
    except Conflict as conflict:
        return refused(request, Refused(_("%s Look at it as it is now.") % conflict), here)
    return done(request, said, following, act_id)


def _two_of(request: HttpRequest, project: Project) -> tuple[Any, Any]:
    form = CompareForm(request.POST, project=project)
    if not form.is_valid() or form.records is None:
        raise Http404
    return form.records


def _versions(request: HttpRequest) -> dict[str, int]:
    """The versions that the page showed, by node id; one that cannot be read matches none."""
    shown = {}
    for name in ("a", "b"):
        text = request.POST.get(f"{name}_version", "")
        if text:
            shown[request.POST[name]] = int(text) if text.isdecimal() and len(text) < 10 else -1
    return shown


def _compare_url(project: Project, one: str, other: str) -> str:
    return f"{reverse('pairs:compare', args=[project.slug])}?a={one}&b={other}"


def _said(one: str, other: str, verdict: str) -> str:
    words = {
        Verdict.CONTRADICTS: _("%(one)s contradicts %(other)s"),
        Verdict.SUPERSEDES: _("%(one)s supersedes %(other)s"),
        Verdict.DUPLICATES: _("%(one)s duplicates %(other)s"),
        Verdict.UNRELATED: _("%(one)s and %(other)s stay apart"),
    }
    return words[Verdict(verdict)] % {"one": one, "other": other}

"""A person's own filters of a project; their feeds; and the way out of the digest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from curation.models import SavedFilter
from curation.saved import actions, feeds
from curation.saved.digest import user_of_unsubscribe
from curation.saved.forms import SavedFilterForm
from curation.saved.items import find, pages, path_of
from curation.saved.queries import saved_filters
from projects.access import in_project
from projects.call_counts import seconds_to_wait
from projects.models import Project, User
from projects.responses import SeeOther
from records.paging import count_label

FEEDS_A_MINUTE = 30


@require_safe
@in_project()
def saved_page(request: HttpRequest, project: Project) -> HttpResponse:
    return _page(request, project)


@require_http_methods(["GET", "POST"])
@in_project()
def save(request: HttpRequest, project: Project) -> HttpResponse:
    """`?page=decisions:list&query=tag%3Dredis`: asks for a name."""
    asked = request.POST if request.method == "POST" else request.GET
    page, query = asked.get("page", ""), asked.get("query", "")
    if page not in pages():
        raise Http404
    form = SavedFilterForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            saved = actions.save_filter(
                user=_person(request), project=project, page=page, query=query, **form.cleaned_data
            )
        except ValidationError as error:
            _show(form, error)
        else:
            messages.success(request, _("Saved as %s") % saved)
            return SeeOther(path_of(saved, project))
    shown = SavedFilter(page=page, query=query[: actions.QUERY_LONGEST])
    context = {"form": form, "page": page, "query": query, "page_label": pages()[page], "cancel_url": path_of(shown, project)}  # fmt: skip
    return render(request, "saved/new.html", context, status=422 if form.is_bound else 200)


@require_POST
@in_project()
def change(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    saved, form = _own(request, project, pk), SavedFilterForm(request.POST)
    if form.is_valid():
        try:
            with _or_404():
                actions.change_filter(saved=saved, **form.cleaned_data)
        except ValidationError as error:
            _show(form, error)
        else:
            return _done(request, project, _("Saved %s") % saved)
    return _page(request, project, status=422, wrong=saved.pk, wrong_form=form)


@require_POST
@in_project()
def delete(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    saved = _own(request, project, pk)
    actions.delete_filter(saved=saved)
    return _done(request, project, _("Deleted %s") % saved)


@never_cache
@require_POST
@in_project()
def make_feed(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Answers with the address in the page itself: it is shown once."""
    saved = _own(request, project, pk)
    with _or_404():
        text = actions.make_feed(saved=saved)
    address = f"{settings.SITE_URL}{reverse('feed', args=[text])}"
    return _page(request, project, status=201, feed_of=saved, feed_url=address)


@require_POST
@in_project()
def withdraw_feed(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    saved = _own(request, project, pk)
    with _or_404():
        actions.withdraw_feed(saved=saved)
    return _done(request, project, _("The feed of %s is withdrawn") % saved)


@login_not_required
@require_safe
def feed(request: HttpRequest, text: str) -> HttpResponse:
    """The secret in the address is the key; what it shows, its owner may see now."""
    saved = feeds.saved_filter_of(text)
    if saved is None:
        raise Http404
    if wait := seconds_to_wait(f"feed {saved.pk}", FEEDS_A_MINUTE):
        return HttpResponse(status=429, headers={"Retry-After": str(wait)})
    body, etag = feeds.atom(saved)
    response = HttpResponse(body, content_type="application/atom+xml; charset=utf-8")
    response["ETag"], response["Cache-Control"] = etag, "private, max-age=60"
    response["X-Robots-Tag"] = "noindex"
    return get_conditional_response(request, etag=etag, response=response) or response


@csrf_exempt  # a mail program posts without a cookie; the address is the key, and it can only end the mails
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, text: str) -> HttpResponse:
    user = user_of_unsubscribe(text)
    if user is not None and request.method == "POST":
        actions.end_digest(user=user)
    context = {"known": user is not None, "done": request.method == "POST"}
    return render(request, "saved/unsubscribe.html", context, status=200 if user else 410)


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


@contextmanager
def _or_404() -> Iterator[None]:
    """Deleted between the look for it and the act: as absent as one that never was."""
    try:
        yield
    except SavedFilter.DoesNotExist as error:
        raise Http404 from error


def _own(request: HttpRequest, project: Project, pk: int) -> SavedFilter:
    if pk >= 2**63:
        raise Http404
    return get_object_or_404(SavedFilter, pk=pk, user=_person(request), project=project)


def _page(request: HttpRequest, project: Project, status: int = 200, **more: Any) -> HttpResponse:
    rows = []
    names = pages()
    for saved in saved_filters(_person(request), project):
        found = find(saved, project, limit=0)
        wrong = more.get("wrong") == saved.pk
        initial = {"name": saved.name, "in_digest": saved.in_digest}
        form = more["wrong_form"] if wrong else SavedFilterForm(initial=initial)
        form.auto_id = f"saved-{saved.pk}-%s"
        rows.append(
            {
                "saved": saved,
                "path": path_of(saved, project),
                "page_label": names.get(saved.page, saved.page),
                "found": found,
                "count": count_label(found.count),
                "form": form,
                "wrong": wrong,
            }
        )
    return render(request, "saved/list.html", {"rows": rows, **more}, status=status)


def _done(request: HttpRequest, project: Project, text: str) -> HttpResponse:
    messages.success(request, text)
    return SeeOther(reverse("saved:list", args=[project.slug]))


def _show(form: SavedFilterForm, error: ValidationError) -> None:
    for name, found in error.message_dict.items():
        form.add_error(name if name in form.fields else None, found)  # type: ignore[arg-type]

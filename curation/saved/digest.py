"""The daily digest by mail: what waits in the queues that a person reviews, and what is new in filters they chose."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMultiAlternatives
from django.db.models import Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from curation.inbox.queues import all_queues, counts_by_queue
from curation.models import SavedFilter
from curation.saved.items import Item, find, path_of
from projects.access import Access, Capability, access_of_user, visible_projects
from projects.middleware import zone_named
from projects.models import Project, User
from records.paging import count_label

log = logging.getLogger("memory_desk.digest")
HOUR = 7  # in the morning, where the person is
PROJECTS_MOST, ITEMS_MOST = 20, 5
SALT = "curation.saved.unsubscribe"
LOOK_SECONDS = 300.0


@dataclass(frozen=True)
class Waiting:
    """One line: how many, and where."""

    label: str
    count: str
    url: str


@dataclass(frozen=True)
class Part:
    """One project of the mail."""

    project: Project
    waiting: list[Waiting]
    fresh: list[tuple[str, str, list[tuple[Item, str]]]]  # filter's name, its address, (item, its address)


def digest_of(user: User, since: datetime) -> list[Part]:
    """What the mail would say; empty where nothing waits. A few queries a project and filter."""
    access = access_of_user(user)
    kept: dict[int, list[SavedFilter]] = {}
    for saved in SavedFilter.objects.filter(user=user, in_digest=True).order_by("name", "pk"):
        kept.setdefault(saved.project_id, []).append(saved)
    parts = [
        _part(project, access, kept.get(project.pk, []), since)
        for project in visible_projects(access)[:PROJECTS_MOST]
    ]
    return [part for part in parts if part.waiting or part.fresh]


def _part(project: Project, access: Access, kept: list[SavedFilter], since: datetime) -> Part:
    waiting = []
    if access.may(project.pk, Capability.REVIEW):
        inbox = settings.SITE_URL + reverse("inbox:page", args=[project.slug])
        counts = counts_by_queue(project)
        for queue in all_queues():
            if count := counts[queue.key]:
                waiting.append(Waiting(str(queue.label), count_label(count), f"{inbox}?queue={queue.key}"))
    fresh = []
    for saved in kept:
        items = [item for item in find(saved, project).items if item.when is not None and item.when > since]
        if items:
            shown = [(item, settings.SITE_URL + item.path) for item in items[:ITEMS_MOST]]
            fresh.append((saved.name, settings.SITE_URL + path_of(saved, project), shown))
    return Part(project, waiting, fresh)


def send_due(now: datetime | None = None, seconds: float = 4.0, *, at_once: bool = False) -> tuple[int, bool]:
    """Send to whom it is time for: (mails sent, whether there is more). Each person once a day, whichever worker looks.

    `at_once`: whatever the hour, and although today's was sent.
    """
    now = now or timezone.now()
    give_up_at, sent = time.monotonic() + seconds, 0
    people = User.objects.filter(daily_digest=True, is_active=True).exclude(email="").order_by("pk")
    if not at_once:
        people = people.filter(Q(digest_sent_at=None) | Q(digest_sent_at__lt=now - timedelta(hours=12)))
    for user in people:
        if time.monotonic() > give_up_at:
            return sent, True
        if at_once or _is_due(user, now):
            sent += _send(user, now)
    return sent, False


def send_some() -> bool:
    """The worker's chore."""
    _sent, more = send_due()
    return more


def _is_due(user: User, now: datetime) -> bool:
    zone = zone_named(user.time_zone)
    local = now.astimezone(zone)
    last = user.digest_sent_at.astimezone(zone).date() if user.digest_sent_at else None
    return local.hour >= HOUR and (last is None or last < local.date())


def _send(user: User, now: datetime) -> int:
    """0 where another worker was first, or nothing waits."""
    before = user.digest_sent_at
    mine = User.objects.filter(pk=user.pk, digest_sent_at=before)
    if not mine.update(digest_sent_at=now):
        return 0
    try:
        with timezone.override(zone_named(user.time_zone)):
            parts = digest_of(user, before or now - timedelta(days=1))
            if parts:
                mail_of(user, parts).send()
    except (
        Exception
    ):  # the mail server is away, or one filter fails: the others get theirs, the next look tries again
        log.exception("The digest of %s could not be sent", user.get_username())
        User.objects.filter(pk=user.pk, digest_sent_at=now).update(digest_sent_at=before)
        return 0
    return 1 if parts else 0


def mail_of(user: User, parts: list[Part]) -> EmailMultiAlternatives:
    """Text and HTML, with a way out in the header and at the end."""
    unsubscribe = settings.SITE_URL + reverse("unsubscribe", args=[unsubscribe_text(user)])
    context = {"user": user, "parts": parts, "unsubscribe_url": unsubscribe, "site_url": settings.SITE_URL}
    names = ", ".join(" ".join(part.project.name.split()) for part in parts)
    mail = EmailMultiAlternatives(
        subject=(_("Waiting on your desk: %s") % names)[:200],
        body=render_to_string("saved/digest.txt", context),
        to=[user.email],
        headers={
            "List-Unsubscribe": f"<{unsubscribe}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )
    mail.attach_alternative(render_to_string("saved/digest.html", context), "text/html")
    return mail


def unsubscribe_text(user: User) -> str:
    return signing.dumps([user.pk, user.email], salt=SALT)


def user_of_unsubscribe(text: str) -> User | None:
    """Whom the link is of; None for a wrong one, and for one of an address that is no longer theirs."""
    try:
        key, email = signing.loads(text, salt=SALT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return User.objects.filter(pk=key, email=email).first()

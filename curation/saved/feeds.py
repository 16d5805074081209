"""The Atom feed of a saved filter, at an address that holds a secret."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed

from curation.models import SavedFilter
from curation.saved.actions import feed_digest
from curation.saved.items import find, path_of
from projects.access import access_of_user
from projects.middleware import zone_named

# What XML cannot hold. Agents' text may have any of it.
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Feed(Atom1Feed):
    """`updated` is that of its newest item, not the moment of asking: unchanged is unchanged, byte by byte."""

    updated: datetime

    def latest_post_date(self) -> datetime:
        return self.updated


def saved_filter_of(text: str) -> SavedFilter | None:
    """The filter of this address, while its owner may still read the project."""
    if not 20 <= len(text) <= 100:
        return None
    saved = (
        SavedFilter.objects.filter(feed_digest=feed_digest(text)).select_related("user", "project").first()
    )
    return saved if saved is not None and access_of_user(saved.user).may(saved.project_id) else None


def atom(saved: SavedFilter) -> tuple[bytes, str]:
    """(the document, its ETag)."""
    with timezone.override(zone_of(saved)):
        found = find(saved, saved.project)
    site = settings.SITE_URL
    feed = _Feed(
        title=_clean(f"{saved.name} · {saved.project.name}"),
        link=site + path_of(saved, saved.project),
        description=_clean(found.problem),
        feed_guid=f"{site}/saved/{saved.pk}/",
    )
    times = [item.when for item in found.items if item.when is not None]
    feed.updated = max(times, default=saved.created_at)
    for item in found.items:
        address = site + item.path
        feed.add_item(
            title=_clean(item.title),
            link=address,
            description=_clean(item.summary),
            unique_id=address,
            updateddate=item.when or saved.created_at,
        )
    body = feed.writeString("utf-8").encode("utf-8")
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def zone_of(saved: SavedFilter) -> ZoneInfo:
    return zone_named(saved.user.time_zone)


def _clean(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)

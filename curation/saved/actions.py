"""What a person does with filters of their own: keeps, renames and deletes them, makes and withdraws their feeds."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import QueryDict
from django.utils.translation import gettext as _

from curation.models import SavedFilter
from curation.saved.items import kept_query, pages
from curation.saved.queries import cache_key
from database.transactions import transactional
from projects.models import Project, User
from projects.tokens import digest_of

MOST = 100
QUERY_LONGEST = 4000


@transactional
def save_filter(*, user: User, project: Project, page: str, query: str, name: str, in_digest: bool = False) -> SavedFilter:  # fmt: skip
    """Raises ValidationError, naming the field."""
    if page not in pages():
        raise ValidationError({"page": _("Filters of that page cannot be saved.")})
    kept = kept_query(QueryDict(query.lstrip("?")))
    if len(kept) > QUERY_LONGEST or "\x00" in query:
        raise ValidationError({"query": _("That filter is too long to be kept.")})
    if SavedFilter.objects.filter(user=user, project=project).count() >= MOST:
        raise ValidationError({"name": _("At most %s filters of one project.") % MOST})
    made = SavedFilter(
        user=user, project=project, page=page, query=kept, name=_checked(name), in_digest=in_digest
    )
    with _named_once(made):
        made.save(force_insert=True)
    return made


@transactional
def change_filter(*, saved: SavedFilter, name: str, in_digest: bool) -> SavedFilter:
    """Raises ValidationError, naming the field; SavedFilter.DoesNotExist where it was deleted meanwhile."""
    name = _checked(name)
    with _named_once(saved):
        _keep(saved, name=name, in_digest=in_digest)
    return saved


@transactional
def delete_filter(*, saved: SavedFilter) -> None:
    """With its feed."""
    cache.delete(cache_key(saved.user_id, saved.project_id))
    saved.delete()


@transactional
def make_feed(*, saved: SavedFilter) -> str:
    """The secret of the feed's address, which is nowhere kept; an address from before works no more. Raises
    SavedFilter.DoesNotExist where the filter was deleted meanwhile."""
    text = secrets.token_urlsafe(32)
    _keep(saved, feed_digest=feed_digest(text))
    return text


@transactional
def withdraw_feed(*, saved: SavedFilter) -> None:
    """Raises SavedFilter.DoesNotExist where the filter was deleted meanwhile."""
    _keep(saved, feed_digest=None)


@transactional
def end_digest(*, user: User) -> None:
    """No daily digest for this person any more."""
    User.objects.filter(pk=user.pk).update(daily_digest=False)


def feed_digest(text: str) -> str:
    return digest_of(f"feed {text}")


def _keep(saved: SavedFilter, **columns: Any) -> None:
    """These columns alone: a feed that was withdrawn meanwhile stays so, and a filter that was deleted stays away."""
    if not SavedFilter.objects.filter(pk=saved.pk).update(**columns):
        raise SavedFilter.DoesNotExist
    for name, value in columns.items():
        setattr(saved, name, value)


@contextmanager
def _named_once(saved: SavedFilter) -> Iterator[None]:
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise ValidationError({"name": _("You have a filter of that name in this project.")}) from error
    cache.delete(cache_key(saved.user_id, saved.project_id))


def _checked(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= 100 or not name.isprintable():
        raise ValidationError({"name": _("A name has 1 to 100 printable characters.")})
    return name

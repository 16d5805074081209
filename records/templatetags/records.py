import json
import re
from datetime import date, datetime, timedelta
from functools import lru_cache
from html import escape
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from records.markdown import render
from records.pages.json_tree import Before, draw_tree
from records.times import shown_time

register = template.Library()
SHORT_ID = 14  # characters of a run's id; its title tells all


@register.filter
def markdown(text: str | None) -> SafeString | str:
    """An agent's Markdown as safe HTML."""
    return render(text) if text else ""


@register.filter
def code(text: str | None, language: str | None = None) -> SafeString | str:
    """Source code as one highlighted block, with a copy button; a fence longer than any inside keeps it whole."""
    if not text:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return render(f"{fence}{re.sub(r'[^a-zA-Z0-9_+#-]', '', language or '')}\n{text}\n{fence}")


@register.filter
def json_code(value: Any) -> SafeString | str:
    """A JSON value, indented and highlighted."""
    return code(json.dumps(value, ensure_ascii=False, indent=2), "json")


@register.simple_tag
def json_tree(value: Any, before: Any = None) -> SafeString:
    """A JSON value as lists that fold; with a `Before`, what differs from that is marked."""
    return draw_tree(value, before if isinstance(before, Before) else None)


@register.simple_tag
def time_element(when: Any) -> SafeString | str:
    """A time told relatively, the exact one on hover in the reader's zone; a date as it is; nothing for None.

    A tag, not a template part: a list draws fifty of them.
    """
    language = get_language()
    if isinstance(when, datetime):
        local = shown_time(when)
        exact = f"{_day(local.date(), language)}, {local:%H:%M} {local.tzname()}"
        told = _told(_now_as(local) - local, local, language)
        return mark_safe(  # noqa: S308 -- each text is escaped
            f'<time datetime="{local.isoformat()}" title="{escaped(exact)}" data-relative>{escaped(told)}</time>'
        )
    if isinstance(when, date):
        shown = escaped(_day(when, language))
        return mark_safe(f'<time datetime="{when.isoformat()}">{shown}</time>')  # noqa: S308 -- escaped
    return ""


def escaped(text: Any) -> str:
    """As `conditional_escape`, for the thousand small texts of a list."""
    return text if isinstance(text, SafeString) else escape(str(text))


@lru_cache(maxsize=4096)
def _day(day: date, language: str | None) -> str:
    return date_format(day, "j M Y")


def _now_as(local: datetime) -> datetime:
    return timezone.localtime() if timezone.is_aware(local) else timezone.make_naive(timezone.now())


def _told(age: timedelta, local: datetime, language: str | None) -> str:
    """How long ago, in the one unit that tells it: a list has few different answers."""
    if age < timedelta(0):
        return str(naturaltime(local))
    if age.days >= 2:
        return _days_ago(age.days, _now_as(local).date(), language)
    seconds = age.days * 86_400 + age.seconds
    unit = next(unit for unit in (3600, 60, 1) if seconds >= unit or unit == 1)
    return _seconds_ago(seconds // unit * unit, language)


@lru_cache(maxsize=4096)
def _seconds_ago(seconds: int, language: str | None) -> str:
    return str(naturaltime(timezone.now() - timedelta(seconds=seconds, milliseconds=500)))


@lru_cache(maxsize=4096)
def _days_ago(days: int, today: date, language: str | None) -> str:
    return _("%(time)s ago") % {"time": timesince(today - timedelta(days=days), today)}


@register.simple_tag
def record_row(row: Any) -> SafeString:
    """One row of any list, from its view-model (records.pages.rows.Row).

    A tag that joins strings, not a template part: fifty of those were half of a list's time. Every text that is not
    ours goes through `escaped`.
    """
    node_id = escaped(row.node_id)
    why = f'<span class="why">{escaped(row.why)}</span>' if row.why else ""
    return mark_safe(  # noqa: S308 -- see above
        f'<li class="row k-{escaped(row.kind)}" id="row-{node_id}" data-row>\n'
        '<span class="dot" aria-hidden="true"></span>\n'
        f'<a class="row-title" href="{escaped(row.url)}" data-open>{escaped(row.title)}</a>\n{when_of(row)}\n'
        f'<p class="row-meta"><span>{escaped(row.kind_label)} {short_id(row)}</span>'
        f"{facts_of(row)}{why}{badges_of(row, row.review_state)}</p>{_excerpt(row.excerpt)}\n</li>\n"
    )


def short_id(row: Any) -> str:
    """The id of a row, the whole of it on hover."""
    shown = row.node_id if len(row.node_id) <= SHORT_ID else f"{row.node_id[: SHORT_ID - 1]}…"
    return f'<span class="id" title="{escaped(row.node_id)}">{escaped(shown)}</span>'


def when_of(row: Any) -> str:
    return f'<span class="row-when">{time_element(row.when)}</span>' if row.when else ""


def facts_of(row: Any) -> str:
    return "".join(
        f"<span>{escaped(label)} <b>{escaped(text)}</b></span>"
        if label
        else f"<span><b>{escaped(text)}</b></span>"
        for label, text in row.meta
    )


def badges_of(row: Any, review_state: str) -> str:
    badges = _badges(review_state, row.status, row.status_label, tuple(row.badges), get_language())
    return f'<span class="row-badges">{badges}</span>'


def _excerpt(pieces: Any) -> str:
    if not pieces:
        return ""
    drawn = (f"<mark>{escaped(text)}</mark>" if marked else escaped(text) for text, marked in pieces)
    return f'<p class="row-excerpt">{"".join(drawn)}</p>'


@lru_cache(maxsize=512)
def _badges(
    review_state: str,
    status: str | None,
    status_label: str,
    badges: tuple[tuple[str, str], ...],
    language: str | None,
) -> SafeString:
    context = {"review_state": review_state, "status": status, "status_label": status_label, "badges": badges}
    return render_to_string("_badges.html", context)

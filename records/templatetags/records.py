import json
import re
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from records.markdown import render
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


@register.filter
def in_zone(when: Any) -> Any:
    """A time as the reader's zone has it, or as UTC where that zone has no such day; anything else as it is."""
    return shown_time(when) if isinstance(when, datetime) else when


@register.simple_tag
def time_element(when: Any) -> SafeString | str:
    """A time told relatively, the exact one on hover in the reader's zone; a date as it is; nothing for None.

    A tag, not a template part: a list draws fifty of them.
    """
    if isinstance(when, datetime):
        local = shown_time(when)
        exact = f"{_day(local.date(), get_language())}, {local:%H:%M} {local.tzname()}"
        return format_html(
            '<time datetime="{}" title="{}" data-relative>{}</time>', local.isoformat(), exact, _told(local)
        )
    if isinstance(when, date):
        return format_html('<time datetime="{}">{}</time>', when.isoformat(), _day(when, get_language()))
    return ""


@lru_cache(maxsize=4096)
def _day(day: date, language: str | None) -> str:
    return date_format(day, "j M Y")


def _told(local: datetime) -> str:
    """How long ago; from two days on in whole days, for which a list has few answers."""
    now = timezone.localtime() if timezone.is_aware(local) else timezone.make_naive(timezone.now())
    age = (now - local).days
    return str(naturaltime(local)) if age < 2 else _days_ago(age, now.date(), get_language())


@lru_cache(maxsize=4096)
def _days_ago(days: int, today: date, language: str | None) -> str:
    return _("%(time)s ago") % {"time": timesince(today - timedelta(days=days), today)}


ROW = """<li class="row k-{kind}" id="row-{node_id}" data-row>
<span class="dot" aria-hidden="true"></span>
<a class="row-title" href="{url}" data-open>{title}</a>
{when}
<p class="row-meta"><span>{kind_label} <span class="id" title="{node_id}">{short_id}</span></span>{facts}{badges}</p>{excerpt}
</li>
"""


@register.simple_tag
def record_row(row: Any) -> SafeString:
    """One row of any list, from its view-model (records.pages.rows.Row).

    A tag, not a template part: fifty of them were half of a list's time.
    """
    facts = [
        format_html("<span>{} <b>{}</b></span>" if label else "<span>{}<b>{}</b></span>", label or "", text)
        for label, text in row.meta
    ]
    if row.why:
        facts.append(format_html('<span class="why">{}</span>', row.why))
    badges = _badges(row.review_state, row.status, row.status_label, tuple(row.badges), get_language())
    return format_html(
        ROW,
        kind=row.kind,
        node_id=row.node_id,
        url=row.url,
        title=row.title,
        when=format_html('<span class="row-when">{}</span>', time_element(row.when)) if row.when else "",
        kind_label=row.kind_label,
        short_id=row.node_id if len(row.node_id) <= SHORT_ID else f"{row.node_id[: SHORT_ID - 1]}…",
        facts=mark_safe("".join(facts)),  # noqa: S308 -- each part was escaped
        excerpt=_excerpt(row.excerpt) if row.excerpt else "",
        badges=format_html('<span class="row-badges">{}</span>', badges),
    )


def _excerpt(pieces: Any) -> SafeString:
    drawn = [format_html("<mark>{}</mark>" if marked else "{}", text) for text, marked in pieces]
    return format_html('<p class="row-excerpt">{}</p>', mark_safe("".join(drawn)))  # noqa: S308 -- each was escaped


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

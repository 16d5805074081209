import json
import re
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.template.loader import render_to_string
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from records.markdown import render
from records.times import shown_time

register = template.Library()


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
        exact = f"{date_format(local, 'j M Y, H:i')} {local.tzname()}"
        shown = naturaltime(local)
        return format_html(
            '<time datetime="{}" title="{}" data-relative>{}</time>', local.isoformat(), exact, shown
        )
    if isinstance(when, date):
        return format_html('<time datetime="{}">{}</time>', when.isoformat(), date_format(when, "j M Y"))
    return ""


@register.simple_tag
def badges_of(row: Any) -> SafeString:
    """The badges of a row: `_badges.html`, drawn once for each combination, since the rows of a list share a few."""
    return _badges(row.review_state, row.status, row.status_label, tuple(row.badges), get_language())


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

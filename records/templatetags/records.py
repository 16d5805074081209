import json
import re
from datetime import datetime
from typing import Any

from django import template
from django.utils.safestring import SafeString

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

"""The incident view as Markdown, for the channel where the incident is talked about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from desk.incident.rows import IncidentRow
from desk.incident.screen import Known, Screen
from desk.incident.similar import Incident
from records.one_line import one_line
from records.pages.rows import record_url, title_of

TOLD, TITLE = 240, 100  # characters
_MARKUP = re.compile(r"([\\`*_\[\]<>|#~])")


def plain(text: str, most: int = TOLD) -> str:
    """What somebody wrote, in one line and as words alone: none of it is markup, and none of it calls anybody."""
    line = one_line(text, most)
    return _MARKUP.sub(r"\\\1", line).replace("@", "@\u2060")


def markdown_of(screen: Screen, incidents: Sequence[IncidentRow], address: str, site: str) -> str:
    """`incidents`: the rows of the screen's; `address` of this view; `site` scheme and host of the desk, for links that
    work from anywhere."""
    lines = [f"**{plain(screen.title or _('An alert'), TITLE)}**", f"<{address}>", ""]
    lines.append(f"**{_('Similar past runs')}**")
    for one, row in zip(screen.incidents, incidents, strict=True):
        lines += _incident(one, row, site)
    if not screen.incidents:
        lines.append(f"- {_('none')}")
    for label, known in ((_("Pitfalls"), screen.pitfalls), (_("Decisions"), screen.decisions)):
        if known:
            lines += ["", f"**{label}**", *(_known(one, site) for one in known)]
    if screen.people:
        names = ", ".join(plain(one.name, TITLE) for one in screen.people)
        lines += ["", f"**{_('Who knows')}**: {names}"]
    return "\n".join(lines) + "\n"


def _incident(one: Incident, row: IncidentRow, site: str) -> list[str]:
    said = [row.status, *(f"{label} {text}" for label, text in row.facts)]
    if row.escalated:
        said.append(_("a person was called"))
    if row.calls:
        count = len(row.calls) + row.further_calls
        said.append(ngettext("%d tool call", "%d tool calls", count) % count)
    facts = ", ".join(plain(fact, TITLE) for fact in said if fact)
    lines = [f"- [{plain(title_of(one.record), TITLE)}]({site}{record_url(one.record)}) ({row.why}): {facts}"]
    if row.summary:
        lines.append(f"  {plain(row.summary)}")
    return lines


def _known(one: Known, site: str) -> str:
    line = f"- [{plain(title_of(one.record), TITLE)}]({site}{record_url(one.record)})"
    if one.bad:
        line += f": {_('led to')} " + ", ".join(
            f"{plain(bad.type)} {bad.occurred_at:%Y-%m-%d}" for bad in one.bad[:3]
        )
    elif getattr(one.record, "how_to_avoid", None):
        line += f": {plain(one.record.how_to_avoid)}"
    return line

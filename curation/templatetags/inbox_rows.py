"""The rows of a queue: a tag that joins strings, since a page has fifty of them."""

from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from records.templatetags.records import badges_of, escaped, facts_of, short_id, when_of

register = template.Library()


@register.simple_tag
def inbox_row(entry: Any, url: str, pane_url: str, opened: str, selectable: bool = False) -> SafeString:
    """One entry (curation.inbox.queues.Entry). Every text that is not ours goes through `escaped`."""
    row, other, key, url = entry.row, entry.other, escaped(entry.key), escaped(url)
    title, ids = escaped(row.title), short_id(row)
    if other is not None:
        title = f'{title} <span class="versus-word">{escaped(_("and"))}</span> {escaped(other.title)}'
        ids = f"{ids} {short_id(other)}"
    current = ' aria-current="true"' if entry.key == opened else ""
    whys = "".join(
        f'<span class="why">{escaped(text)}</span>' if warns else f"<span>{escaped(text)}</span>"
        for text, warns in entry.whys
    )
    return mark_safe(  # noqa: S308 -- see above
        f'<li class="row k-{escaped(row.kind)}" id="row-{key}" data-row>\n{_box(entry) if selectable else ""}'
        '<span class="dot" aria-hidden="true"></span>\n'
        f'<a class="row-title" href="{url}" data-open hx-get="{escaped(pane_url)}" hx-target="#inbox-pane"'
        f' hx-swap="outerHTML" hx-push-url="{url}"{current}>{title}</a>\n{when_of(row)}\n'
        f'<p class="row-meta"><span>{escaped(row.kind_label)} {ids}</span>{facts_of(row)}{whys}'
        f"{badges_of(row, entry.shown_state)}</p>\n</li>\n"
    )


def _box(entry: Any) -> str:
    if not entry.value:
        return ""
    words = escaped(_("Select %(title)s") % {"title": entry.row.title})
    return (
        f'<label class="select"><input type="checkbox" name="record" value="{escaped(entry.value)}" data-select>'
        f'<span class="visually-hidden">{words}</span></label>\n'
    )

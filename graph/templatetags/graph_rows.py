"""The rows of the graph's table twin: a tag that joins strings, since a neighbourhood has a hundred of them."""

from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from records.templatetags.records import escaped

register = template.Library()


@register.simple_tag
def edge_row(edge: Any) -> SafeString:
    """One relation: source, its words, cosine, target. Every text goes through `escaped`."""
    score = "" if edge["score"] is None else f"{edge['score']:.2f}"
    return mark_safe(  # noqa: S308 -- see above
        f"<tr>\n<td>{_end(edge['source'])}</td>\n"
        f'<td class="relation-{escaped(edge["key"].lower())}">{escaped(edge["relation"])}</td>\n'
        f'<td class="num">{score}</td>\n<td>{_end(edge["target"])}</td>\n</tr>'
    )


def _end(node: Any) -> str:
    return (
        f'<span class="dot k-{escaped(node["kind"])}" aria-hidden="true"></span><a href="{escaped(node["url"])}">'
        f'<span class="id">{escaped(node["id"])}</span> {escaped(node["title"])}</a>'
    )

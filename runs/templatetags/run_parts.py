"""Parts of the pages of runs that no template draws well: a duration in words, what became of a run."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from records.templatetags.records import escaped
from runs.around import outcome_words as words_of_outcome
from runs.took import took_words

register = template.Library()


@register.filter
def took(milliseconds: float | None) -> str:
    """A duration in milliseconds, in words."""
    return "" if milliseconds is None else took_words(milliseconds)


@register.filter
def outcome_words(outcome: Any) -> str:
    return words_of_outcome(outcome)


@register.simple_tag
def calls_in_brief(calls: Iterable[Any]) -> SafeString:
    """Items of a list, of calls with `name failed took_ms preview`: joined strings, since the incident view has dozens."""
    failed, unnamed = f' <span class="badge b-bad">{escaped(_("failed"))}</span>', _("unnamed")

    def item(call: Any) -> str:
        took = (
            "" if call.took_ms is None else f' <span class="meta">{escaped(intcomma(call.took_ms))} ms</span>'
        )
        preview = f"<code>{escaped(call.preview)}</code>" if call.preview else ""
        return (
            f"<li><b>{escaped(call.name or unnamed)}</b>{failed if call.failed else ''}{took}{preview}</li>"
        )

    return mark_safe("".join(map(item, calls)))  # noqa: S308 -- every text that is not ours goes through `escaped`

"""Why two records were put side by side, in the reader's words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

WARNING = frozenset({"contradicts", "status", "outcome", "later"})


def whys_of(why: Iterable[Any]) -> list[tuple[str, bool]]:
    """(words, is it worth a warning) of each reason as it is kept; what this version cannot read is left out."""
    return [(said, one["code"] in WARNING) for one in why if isinstance(one, dict) and (said := _said(one))]


def _said(one: dict[str, Any]) -> str:
    try:
        return _worded(one)
    except (KeyError, TypeError, ValueError):
        return ""


def _worded(one: dict[str, Any]) -> str:
    code = one["code"]
    if code == "contradicts":
        return _("%(who)s says that they contradict") % {"who": one["by"]}
    if code == "duplicate":
        return _("%(who)s says that they say the same") % {"who": one["by"]}
    if code == "same_text":
        return _("the same words")
    if code == "cosine":
        return _("cosine %(value)s") % {"value": f"{one['value']:.2f}"}
    if code == "words":
        return _("%(percent)s %% of the words shared") % {"percent": round(100 * one["value"])}
    if code == "status":
        return _("one is %(first)s, one %(second)s") % {"first": one["first"], "second": one["second"]}
    if code == "outcome":
        return _("%(first)s followed one, %(second)s the other") % {
            "first": one["first"],
            "second": one["second"],
        }
    if code == "later":
        days = int(one["days"])
        return ngettext(
            "%(n)s day later, without a word of the earlier one",
            "%(n)s days later, without a word of the earlier one",
            days,
        ) % {"n": f"{days:,}"}
    return ""

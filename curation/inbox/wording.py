"""Why a record waits, in the reader's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from records.attention import Cause
from records.hygiene.findings import LABELS
from records.kinds import all_kinds

BADGES = frozenset({"quarantined", "severity"})


def said_of(cause: Cause) -> tuple[str, bool]:
    """(words, is it worth a warning). A cause that this version does not know is told by its code."""
    about = cause.about
    told: Mapping[str, tuple[str, bool]] = {
        "quarantined": (_("quarantined"), True),
        "finding": (str(LABELS.get(about, about)), True),
        "contradicts": (_("contradicts %s") % about, True),
        "contradicted": (_("contradicted since by %s") % about, True),
        "bad_outcome": (_("a bad outcome since: %s") % about, True),
        "repeats": (_("says the same as %s") % about, True),
        "like_hidden": (_("like %s, which was put away") % about, True),
        "low_trust": (_("trust %s") % about, False),
        "severity": (_severity(about), False),
        "served": (_served(about), False),
    }
    return told.get(cause.code, (f"{cause.code} {about}".strip(), False))


def _served(about: str) -> str:
    count = int(about) if about.isdecimal() and len(about) < 10 else 0
    return ngettext("told to agents %(n)s time", "told to agents %(n)s times", count) % {"n": f"{count:,}"}


def _severity(about: str) -> str:
    for kind in all_kinds():
        for column in kind.model._meta.concrete_fields:
            if column.name == "severity":
                return str(dict(column.flatchoices).get(about, about))
    return about


def whys_of(causes: Iterable[Cause], most: int = 3) -> list[tuple[str, bool]]:
    """The weightiest, for a row; without those that its badges say."""
    told = [cause for cause in causes if cause.code not in BADGES]
    return [said_of(cause) for cause in told[:most]]


def as_rows(causes: Iterable[Cause]) -> list[dict[str, Any]]:
    """All of them with their points, for the pane."""
    return [
        {"text": text, "warns": warns, "points": cause.points}
        for cause in causes
        for text, warns in [said_of(cause)]
    ]

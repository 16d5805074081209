"""How long something took, in words."""

from __future__ import annotations

from django.utils.translation import gettext as _


def took_words(milliseconds: float) -> str:
    """A duration in the unit that tells it, to two or three digits."""
    seconds = milliseconds / 1000
    for size, unit in ((86_400, _("d")), (3600, _("h")), (60, _("min")), (1, _("s"))):
        if seconds >= 2 * size or (size == 1 and seconds >= 1):
            amount = seconds / size
            return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:,.0f} {unit}"
    return f"{milliseconds:,.0f} {_('ms')}"

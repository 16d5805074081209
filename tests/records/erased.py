"""A text to erase, and the places that still hold it."""

from __future__ import annotations

from records.everywhere import places_of

WORD = 'Zwölfton-«Xylophon» "q" 4711'
WHY = "A person asked us to."


def left(text: str = WORD) -> list[str]:
    return [str(place) for place in places_of([text])]

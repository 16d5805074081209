"""Texts of any length where there is one line for them."""

from __future__ import annotations


def one_line(text: str, most: int = 160) -> str:
    """The text in one line of at most so many characters; of a longer one its beginning, with `…`. No more of it is
    looked at than may be shown."""
    text = text.lstrip()
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most and len(text) <= most * 4 else f"{line[: most - 1].rstrip()}…"

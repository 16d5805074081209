"""One module a form, each with `read(text) -> list[Written]`; raises NotOne where the text is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from transfer.postmortems.forms import data, markdown
from transfer.postmortems.records import Written

FORMS: dict[str, Callable[[str], list[Written]]] = {
    ".md": markdown.read,
    ".markdown": markdown.read,
    ".erb": markdown.read,
    ".yaml": data.read,
    ".yml": data.read,
}
SUFFIXES = frozenset(FORMS)


def read(text: str, path: str) -> list[Written]:
    """Every post-mortem of the text, by the form that the path's suffix names (Markdown otherwise)."""
    return FORMS.get(PurePosixPath(path).suffix.lower(), markdown.read)(text)

"""Finding headings in the markups records are written in; one module per markup."""

from __future__ import annotations

from transfer.adr.markup import asciidoc, markdown, restructured
from transfer.adr.markup.outline import Heading, Outline

_OUTLINES: dict[str, Outline] = {
    ".rst": restructured.outline,
    ".rest": restructured.outline,
    ".adoc": asciidoc.outline,
    ".asciidoc": asciidoc.outline,
    ".asc": asciidoc.outline,
}
TEXT_SUFFIXES = frozenset(
    {*_OUTLINES, ".md", ".markdown", ".mdx", ".mkd", ".mdown", ".mdwn", ".txt", ".text", ".qmd", ".rmd", ""}
)


def outline_for(suffix: str, lines: list[str], first: int) -> tuple[list[str], list[Heading]]:
    """Lines without code and comments, and the headings, of a file with this suffix."""
    return _OUTLINES.get(suffix, markdown.outline)(lines, first)

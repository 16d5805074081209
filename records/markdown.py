"""Markdown of people and agents as safe HTML: no raw HTML, no images, no inline style, links that show their host."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from records.highlighting import CLASSES, highlight

# Measured: 0.4 s for 400,000 characters of real decision records; the longest of 291 has 308,812. Longer text is shown
# as it was written.
LONGEST_RENDERED = 400_000
# The parser's time grows with the square of these within one paragraph: 20,000 brackets take 2.3 s.
MOST_BRACKETS = 1_500
MOST_LINES = 20_000
MOST_MARKERS = 20_000

_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")
_SCHEMES = {"http", "https", "mailto"}
_ALIGNMENT = re.compile(r"text-align:(left|center|right)")

_TAGS = {
    *(
        "p",
        "br",
        "hr",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "blockquote",
        "pre",
        "code",
        "em",
        "strong",
        "s",
        "a",
    ),
    *("table", "thead", "tbody", "tr", "th", "td", "div", "span"),
}
_cleaner = nh3.Cleaner(
    tags=_TAGS,
    attributes={
        "a": {"href", "title"},
        "ol": {"start"},
        "div": {"data-copy", "tabindex"},  # what scrolls sideways is reached by the keyboard
        "pre": {"tabindex"},
        "code": {"data-language"},
    },
    allowed_classes={
        "div": {"code", "table"},
        "span": {"host", *CLASSES},
        "pre": {"as-written"},
        "p": {"note"},
        "th": {"align-left", "align-center", "align-right"},
        "td": {"align-left", "align-center", "align-right"},
    },
    url_schemes=_SCHEMES,
    link_rel="nofollow noopener noreferrer",
)


def render(text: str) -> SafeString:
    """The text as sanitised HTML. Never raises and never drops text: what would take too long to parse is shown
    as it was written, under a note that says so."""
    reason = _too_much(text)
    if reason is None:
        try:
            return mark_safe(_cleaner.clean(_parser.render(text)))  # noqa: S308 - the sanitiser's own output
        except (RecursionError, ValueError):
            reason = "its markup cannot be read"
    note = f'<p class="note">Shown as it was written: {html.escape(reason)}.</p>'
    return mark_safe(f'{note}<pre class="as-written" tabindex="0">{html.escape(text)}</pre>')  # noqa: S308 - escaped


def _too_much(text: str) -> str | None:
    """Why this text is not parsed, or None. By size and counts, not by a clock: the same text always looks alike."""
    if len(text) > LONGEST_RENDERED:
        return f"it has {len(text):,} characters"
    if text.count("\n") > MOST_LINES:
        return f"it has {text.count(chr(10)):,} lines"
    if len(text) < MOST_BRACKETS:
        return None
    for paragraph in _PARAGRAPH.split(text):
        if paragraph.count("[") > MOST_BRACKETS:
            return "one paragraph has too many brackets"
        if sum(map(paragraph.count, "*_~`&<|:")) > MOST_MARKERS:
            return "one paragraph has too much markup"
        if paragraph.count("\n") > MOST_LINES // 4:
            return "one paragraph has too many lines"
    return None


def _allowed(url: str) -> bool:
    """Whether a link is kept as a link: http, https, mailto, or a path of this site."""
    scheme = re.match(r"\s*([^/?#:]*):", url)
    return scheme is None or scheme.group(1).lower() in _SCHEMES


def _host_of(url: str) -> str:
    """The host that a link leads to; of a relative link none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return url


def _adjust(state: StateCore) -> None:
    """Headings down by two, alignment as classes, images as links, hosts beside links."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        style = token.attrs.pop("style", None)
        if style is not None and (found := _ALIGNMENT.fullmatch(str(style))):
            token.attrs["class"] = f"align-{found.group(1)}"
        if token.children:
            token.children = _with_hosts(token.children)


def _with_hosts(children: Sequence[Token]) -> list[Token]:
    result: list[Token] = []
    opened: Token | None = None
    shown = ""
    for child in children:
        if child.type == "link_open":
            opened, shown = child, ""
            result.append(child)
        elif child.type == "link_close":
            result.append(child)
            if opened is not None:
                result.extend(_host_note(str(opened.attrs.get("href", "")), shown))
            opened = None
        elif child.type == "image":
            result.extend(_image_as_link(child, inside_link=opened is not None))
        else:
            shown += child.content
            result.append(child)
    return result


def _image_as_link(image: Token, inside_link: bool) -> list[Token]:
    source = str(image.attrs.get("src", ""))
    text = Token("text", "", 0, content=image.content or "image")
    if inside_link:
        return [text]
    opening = Token("link_open", "a", 1, attrs={"href": source})
    return [opening, text, Token("link_close", "a", -1), *_host_note(source, image.content)]


def _host_note(url: str, shown: str) -> list[Token]:
    """A span with the link's host, left out where the link's text is its own address."""
    host = _host_of(url)
    if not host or shown in (url, host):
        return []
    return [Token("html_inline", "", 0, content=f' <span class="host">{html.escape(host)}</span>')]


def _code_block(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    token = tokens[at]
    language = token.info.strip().split(maxsplit=1)[0] if token.info.strip() else ""
    name = f' data-language="{html.escape(language)}"' if language else ""
    code = highlight(token.content, language)
    return f'<div class="code" data-copy=""><pre tabindex="0"><code{name}>{code}</code></pre></div>\n'


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt(
        "js-default", {"html": False, "linkify": True, "typographer": False, "maxNesting": 20}
    )
    parser.validateLink = _allowed  # type: ignore[method-assign]
    parser.core.ruler.push("memory_desk", _adjust)
    parser.add_render_rule("fence", _code_block)
    parser.add_render_rule("code_block", _code_block)
    parser.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


_parser = _make_parser()

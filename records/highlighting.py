"""Code in colour by CSS classes, and the one stylesheet that gives the classes their colours."""

from __future__ import annotations

import html
from pathlib import Path

from pygments import highlight as pygments_highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

# Some lexers take quadratic time on odd input: longer code is shown plain.
LONGEST_HIGHLIGHTED = 20_000
# Every class that Pygments can emit; the sanitiser lets these through and no other.
CLASSES = frozenset(name for name in STANDARD_TYPES.values() if name)

CODE_CSS = Path(__file__).parent.parent / "static" / "code.css"

# (what, colour on light paper, on dark paper, further style, classes). Every colour has a contrast of 4.5 or more.
_COLOURS: tuple[tuple[str, str, str, str, str], ...] = (
    ("comment", "#5f6670", "#9aa3ae", "font-style: italic", "c ch cm cpf c1 cs"),
    ("keyword", "#7a3aa8", "#cf9bf5", "", "k kc kd kn kp kr kt ow cp"),
    ("string", "#1f6b3a", "#7fd49a", "", "s sa sb sc dl sd s2 se sh si sx sr s1 ss"),
    ("number", "#87500f", "#e0bf6a", "", "m mb mf mh mi mo il l ld"),
    ("name", "#3b4cca", "#93a0ff", "", "nc nf fm nd ne nn nt"),
    ("constant", "#0b6e6b", "#5cc9c3", "", "nb bp no na nv vc vg vi vm nl ni"),
    ("removed", "#b3261e", "#ff8a80", "", "gd gr err gt"),
    ("added", "#1f6b3a", "#7fd49a", "", "gi"),
    ("heading", "#1d2126", "#e6e8eb", "font-weight: 600", "gh gu gs gp"),
    ("emphasis", "#1d2126", "#e6e8eb", "font-style: italic", "ge"),
)

_formatter = HtmlFormatter(nowrap=True)


def highlight(code: str, language: str) -> str:
    """HTML of the code: spans with Pygments' classes where the language is known, else the escaped text."""
    if language and len(code) <= LONGEST_HIGHLIGHTED:
        try:
            lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        except ClassNotFound:
            return html.escape(code)
        return str(pygments_highlight(code, lexer, _formatter))
    return html.escape(code)


def code_css() -> str:
    """The stylesheet for `.code`: light and dark from one set of rules (the page sets `color-scheme`)."""
    rules = ["/* Written by `python -m records.highlighting`. Colours of code in both themes. */"]
    for what, light, dark, style, classes in _COLOURS:
        selector = ", ".join(f".code .{name}" for name in classes.split())
        more = f" {style};" if style else ""
        rules.append(f"/* {what} */\n{selector} {{ color: light-dark({light}, {dark});{more} }}")
    return "\n".join(rules) + "\n"


def write_code_css(path: Path = CODE_CSS) -> Path:
    """Write the stylesheet; run it again (`python -m records.highlighting`) after changing a colour."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code_css(), encoding="utf-8")
    return path


if __name__ == "__main__":
    write_code_css()

"""Inline markup: what a line says once its links, emphasis and tags are taken off."""

from __future__ import annotations

import html
import re
import unicodedata

_IMAGE = re.compile(r"!\[([^\[\]\n]{0,300})\](?:\([^()\n]{0,1000}\)|\[[^\[\]\n]{0,200}\])")
_LINK = re.compile(
    r"\[((?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,400})\](?:\([^()\n]{0,1000}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?\)|\[[^\[\]\n]{0,200}\])"
)
_REST_LINK = re.compile(r"`([^`<>\n]{1,300}?)\s*<[^<>`\n]{1,500}>`__?")
_REST_ROLE = re.compile(r":[a-z][\w:+-]{1,30}:`([^`<>\n]{1,300}?)(?:\s*<[^<>`\n]{1,300}>)?`")
_AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]{1,500})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,300}>")
_STRUCK = re.compile(r"~~[^~\n]{1,500}~~|<(?:s|del|strike)>.{1,500}?</(?:s|del|strike)>", re.IGNORECASE)
_EMPHASIS = re.compile(
    r"\*{1,3}(?=\S)([^*\n]{1,500}?)(?<=\S)\*{1,3}|(?<!\w)_{1,3}(?=\S)([^_\n]{1,500}?)(?<=\S)_{1,3}(?!\w)"
)
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~$&'\"=:/@%^,;?])")
_PLACEHOLDER = re.compile(
    r"^(?:\{[^{}]*\}|<[^<>]*>|\[[^\[\]]*\]|\$\{[^{}]*\}|\{\{[^{}]*\}\}|_{2,}|\.{3}|…|-+|\?+|x{2,}|n/?a\.?|none\.?|no|"
    r"nil|null|tbd|tba|todo|undefined|unknown|not applicable|无|暂无|なし|keine|ninguno|nenhum|aucun)$",
    re.IGNORECASE,
)


def plain(text: str, *, keep_code: bool = False, drop_struck: bool = True) -> str:
    """One line of text without links, emphasis, tags and escapes; code ticks stay where `keep_code`."""
    text = text[:8000]
    if drop_struck:
        text = _STRUCK.sub(" ", text)
    text = _IMAGE.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    text = _REST_ROLE.sub(r"`\1`" if keep_code else r"\1", text)
    text = _REST_LINK.sub(r"\1", text)
    text = _AUTOLINK.sub(r"\1", text)
    parts = re.split(r"(`{1,2}[^`\n]+`{1,2})", text)
    for index, part in enumerate(parts):
        if index % 2 and keep_code:
            continue
        part = part.strip("`") if index % 2 else _TAG.sub(" ", part)
        if not index % 2:
            part = _EMPHASIS.sub(lambda m: m.group(1) or m.group(2), part)
            part = _EMPHASIS.sub(lambda m: m.group(1) or m.group(2), part)
            part = part.replace("**", "").replace("__", "")
            part = html.unescape(_ESCAPED.sub(r"\1", part))
        parts[index] = part
    return " ".join("".join(parts).split())


def folded(text: str) -> str:
    """Text for looking words up: one case, full-width forms made plain, spaces single."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def unbraced(value: str) -> str:
    """What stands inside a template's braces, brackets, quotes or code ticks, where all of it does."""
    value = value.strip()
    for _ in range(4):
        if len(value) >= 2 and (value[0], value[-1]) in {
            ("{", "}"), ("[", "]"), ("<", ">"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("*", "*"), ("_", "_"), ("「", "」"),
        }:  # fmt: skip
            value = value[1:-1].strip()
    return value


def is_placeholder(value: str) -> bool:
    """Whether a value stands for "nothing written": empty, N/A, none, TBD, or a template's own words in braces."""
    value = value.strip().strip("`*_\"' ")
    return not value or (len(value) < 400 and bool(_PLACEHOLDER.match(value)))

"""Links that lead elsewhere than they say, or carry away what they should not; and text that a page would not show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from records.hygiene.hidden import like_latin
from records.hygiene.orders import in_lower_case, speaks_to_a_model

OTHER_HOST, SCRIPT_LINK, IMAGE_LEAK = "link_to_another_host", "script_link", "image_with_data"
USERINFO, LOOKALIKE_HOST, HIDDEN_TEXT = "host_before_at", "lookalike_host", "hidden_text"

_LINK = re.compile(
    r"(?P<image>!)?\[(?P<text>[^\[\]\n]{0,300})\]\(<?(?P<target>[^\s()<>]{1,2000}(?:\([^\s()]{0,200}\)[^\s()<>]{0,500})?)>?(?:\s[^()\n]{0,200})?\)"
)
_TAG = re.compile(r"<(?P<name>[A-Za-z][A-Za-z0-9]{0,12})(?P<attributes>(?:\s[^<>]{0,2000})?)>")
_ATTRIBUTE = re.compile(
    r"\b(?P<name>href|src|style|hidden|aria-hidden)(?:\s{0,2}=\s{0,2}(?:\"(?P<double>[^\"]{0,2000})\"|'(?P<single>[^']{0,2000})'|(?P<bare>[^\s\"'>]{1,2000})))?",
    re.IGNORECASE,
)
_SCRIPT = re.compile(
    r"(?:\]\(\s{0,4}<?|<|\]:\s{1,4}<?|(?:href|src|action|formaction)\s{0,2}=\s{0,2}[\"']?\s{0,4})"
    r"(?P<target>(?:java\s{0,2}script|vbscript|livescript)\s{0,2}:|data:(?!image/(?:png|jpe?g|gif|webp|avif|bmp|x-icon)[;,]|font/|application/font)[a-z]{1,20}/[\w.+-]{1,60}[;,])",
    re.IGNORECASE,
)
_HOST_OF = re.compile(
    r"(?:https?:)?//(?:[^/@\s?#]{0,200}@)?(?P<host>\[[0-9a-fA-F:.]{2,45}\]|[^/:\s?#@]{1,255})", re.IGNORECASE
)
_TOP = r"(?:com|org|net|io|dev|gov|edu|mil|int|co|ai|app|cloud|info|biz|me|us|uk|de|fr|es|it|nl|eu|ch|at|br|in|cn|jp|kr|ru|ca|au|tech|xyz|site|online|store|internal|local)"
_NAMED_HOST = re.compile(
    rf"(?:https?://)?(?P<host>(?:[a-z0-9-]{{1,63}}\.){{1,5}}{_TOP})(?![\w.-]*\w@)(?=[/:?#]|$)", re.IGNORECASE
)
_USERINFO = re.compile(
    r"\bhttps?://(?P<user>(?:[a-z0-9-]{1,63}(?:\.|%2e)){1,5}(?:com|org|net|io|dev|gov|edu|co|ai|app|cloud|info|biz|uk|de|fr|jp|cn|ru)(?:(?::|%3a|%2f|%3f|%5c|\\)[^\s/@]{0,200})?)@[\w.\[-]",
    re.IGNORECASE,
)
_ANY_HOST = re.compile(
    r"\b(?:https?|ftp)://(?:[^/@\s?#]{0,200}@)?(?P<host>[^/:\s?#@<>()\"'`\]]{4,255})", re.IGNORECASE
)
_NOT_SHOWN = re.compile(
    r"display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?(?:0|1px|0?\.\d+)(?:px|pt|r?em|%)?\s?(?:;|!|$)|opacity\s?:\s?0(?:\.0\d*)?\s?(?:;|!|$)"
    r"|(?<![-\w])color\s?:\s?(?:white|transparent|#fff(?:fff)?)\b|(?:left|top|text-indent)\s?:\s?-\d{3,}",
    re.IGNORECASE,
)
_LONGEST_COMMENT = 20_000
_CARRIED = re.compile(
    r"[?&#](?P<name>data|d|q|content|secret|token|key|payload|msg|message|text|cookie|session|context|prompt|history|env|memory|leak|exfil|body|user|info|c|p|b64)=(?P<value>[^&#\s]{0,4000})",
    re.IGNORECASE,
)
_SLOT = re.compile(
    r"\{\{?[^{}\s]{1,80}\}\}?|\$\{?[A-Z_]{2,60}\}?|%7B[^%\s]{1,80}%7D|\[[A-Z_ -]{3,60}\]|<[A-Z_ -]{3,60}>|\b(?:INSERT|SECRET|YOUR)_[A-Z_]{2,40}\b"
)
_LONG_VALUE = 64
_WORDS = re.compile(r"\w{2,}")


def smuggled_in(text: str) -> Iterator[tuple[str, int, int]]:
    """(code, start, end) of each, in no order."""
    if "](" in text:
        yield from _markdown_links(text)
    if "<" in text:
        yield from _elements(text)
        yield from _comments(text)
    lower = in_lower_case(text)
    if "script" in lower or "data:" in lower:
        yield from ((SCRIPT_LINK, *match.span("target")) for match in _SCRIPT.finditer(text))
    if "://" in text:
        yield from ((USERINFO, *match.span()) for match in _USERINFO.finditer(text))
        yield from _lookalike_hosts(text)


def _markdown_links(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _LINK.finditer(text):
        if match["image"]:
            if _carries(match["target"]):
                yield IMAGE_LEAK, *match.span()
        elif _leads_elsewhere(match["text"], match["target"]):
            yield OTHER_HOST, *match.span()


def _elements(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _TAG.finditer(text):
        if not match["attributes"]:
            continue
        values = {
            found["name"].lower(): found["double"] or found["single"] or found["bare"] or ""
            for found in _ATTRIBUTE.finditer(match["attributes"])
        }
        name, inside = match["name"].lower(), _text_after(text, match.end())
        if name == "img" and _carries(values.get("src", "")):
            yield IMAGE_LEAK, *match.span()
        elif name == "a" and _leads_elsewhere(inside, values.get("href", "")):
            yield OTHER_HOST, match.start(), match.end() + len(inside)
        if _is_unseen(values) and len(_WORDS.findall(inside)) >= 3:
            yield HIDDEN_TEXT, match.start(), match.end() + len(inside)


def _text_after(text: str, at: int) -> str:
    """What stands in an element, up to the next tag."""
    part = text[at : at + 400]
    return part.partition("<")[0]


def _is_unseen(values: dict[str, str]) -> bool:
    return (
        "hidden" in values
        or values.get("aria-hidden", "").lower() == "true"
        or _NOT_SHOWN.search(values.get("style", "")) is not None
    )


def _comments(text: str) -> Iterator[tuple[str, int, int]]:
    """Those that order something of a model."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        end = len(text) if end < 0 else end + 3
        if speaks_to_a_model(text[start + 4 : min(end, start + _LONGEST_COMMENT)]):
            yield HIDDEN_TEXT, start, end
        start = text.find("<!--", end)


def _leads_elsewhere(said: str, target: str) -> bool:
    """A link whose text is itself an address, of another host than the one it leads to."""
    named, leads = _NAMED_HOST.match(said.strip().strip("`*_ ")), _HOST_OF.match(target)
    return bool(named and leads and not _same_site(named["host"], leads["host"]))


def _same_site(one: str, other: str) -> bool:
    """`docs.example.com` and `example.com` are of one owner, as far as a reader can tell."""
    one, other = one.lower().removeprefix("www."), other.lower().removeprefix("www.")
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def _carries(address: str) -> bool:
    """An image's address with something in it that a page would send away: a slot to fill, or a long value."""
    asked = unquote(address.partition("?")[2])
    if not address.lower().startswith(("http://", "https://", "//")) or not asked:
        return False
    return _SLOT.search(asked) is not None or any(
        len(found["value"]) >= _LONG_VALUE for found in _CARRIED.finditer(address)
    )


def _lookalike_hosts(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _ANY_HOST.finditer(text):
        host = match["host"].lower()
        if (not host.isascii() or "xn--" in host) and any(map(_is_disguised, host.split("."))):
            yield LOOKALIKE_HOST, *match.span("host")


def _is_disguised(label: str) -> bool:
    """True of a label that is drawn as plain Latin letters and is not made of them."""
    if label.startswith("xn--"):
        try:
            label = label[4:].encode("ascii").decode("punycode")
        except UnicodeError:
            return False
    return not label.isascii() and like_latin(label).isascii()

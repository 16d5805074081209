"""What a text holds that its reader does not see: characters without a shape, directions that reorder, look-alikes.

What scripts need is none of this: joiners in Persian, Hindi, Bengali or Khmer and in emoji, marks of direction in Hebrew
and Arabic, one variation selector after an emoji or a Chinese character, the flags of England, Scotland and Wales.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

HIDDEN_CHARACTERS, BIDI, TAGS = "hidden_characters", "bidi_override", "tag_characters"
VARIATION, LOOKALIKE = "variation_selectors", "lookalike_letters"

_TAG = "\U000e0020-\U000e007e"
_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
# Without width and without a use in any script: word joiner, invisible operators, fillers, deprecated controls.
_ALWAYS = (
    "\u2061-\u2064\u206a-\u206f\u115f\u1160\u3164\uffa0\u17b4\u17b5\ufff9-\ufffb\U0001d173-\U0001d17a\u180e"
)
_SPACE = (
    "\u200b\u2060\ufeff\u00ad"  # a chance to break a line, or none: harmless alone, a code where they gather
)
_JOINER = "\u200c\u200d"
INVISIBLE = re.compile(
    f"[{_ALWAYS}{_SPACE}{_JOINER}{_SELECTOR}{_TAG}\U000e0001\U000e007f\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c\u034f]"
)

_RUN = re.compile(f"[{_ALWAYS}{_SPACE}{_JOINER}\u034f]+")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]+")
_OVERRIDE = re.compile("[\u202d\u202e]")
_TAGS = re.compile(f"\U0001f3f4[{_TAG}]{{4,7}}\U000e007f|[{_TAG}\U000e0001\U000e007f]+")
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{4,6}\U000e007f")
_SELECTORS = re.compile(f"[{_SELECTOR}]{{2,}}|(?<=[A-Za-z])[{_SELECTOR}]")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_WORD = re.compile(r"[^\W\d_]{2,64}")

# Letters of other scripts that are drawn like a Latin one.
_LIKE = {
    "а": "a", "в": "b", "е": "e", "к": "k", "м": "m", "н": "h", "о": "o", "р": "p", "с": "c", "т": "t", "у": "y", "х": "x",
    "ѕ": "s", "і": "i", "ї": "i", "ј": "j", "ԁ": "d", "һ": "h", "ӏ": "l", "ԛ": "q", "ԝ": "w", "ѵ": "v", "ɡ": "g", "ɑ": "a",
    "А": "A", "В": "B", "Е": "E", "К": "K", "М": "M", "Н": "H", "О": "O", "Р": "P", "С": "C", "Т": "T", "У": "Y", "Х": "X",
    "Ѕ": "S", "І": "I", "Ј": "J", "Ԍ": "G", "Ү": "Y", "Ѵ": "V", "ο": "o", "α": "a", "ν": "v", "ρ": "p", "ι": "i", "κ": "k",
    "υ": "u", "χ": "x", "γ": "y", "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N",
    "Ο": "O", "Ρ": "P", "Τ": "T", "Υ": "Y", "Χ": "X", "օ": "o", "ս": "u", "հ": "h", "ց": "g", "զ": "q", "ո": "n",
}  # fmt: skip
# Small Greek letters stand beside Latin ones in formulas (αx, ρg, νmax): as letters of a word they are too common to be told.
_IN_WORDS = {letter for letter in _LIKE if not "α" <= letter <= "ω"} | {"ο"}
_FOREIGN = re.compile("[" + "".join(_LIKE) + "]")
_FULL_WIDTH = re.compile("[\uff21-\uff3a\uff41-\uff5a]")
_AS_READ = str.maketrans(
    {
        **_LIKE,
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # full-width
        "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-", "\u00a0": " ", "\u3000": " ",
    }
)  # fmt: skip


def hidden_in(text: str) -> Iterator[tuple[str, int, int]]:
    """(code, start, end) of each hidden character or run of them, in no order."""
    if text.isascii():
        return
    yield from ((HIDDEN_CHARACTERS, *m.span()) for m in _RUN.finditer(text) if not _is_needed(text, m))
    yield from _reordering(text)
    for match in _TAGS.finditer(text):
        if not _FLAG.fullmatch(match.group()):
            yield TAGS, *match.span()
    yield from ((VARIATION, *m.span()) for m in _SELECTORS.finditer(text))
    if _FOREIGN.search(text):
        yield from _mixed_words(text)


def as_read(text: str) -> tuple[str, list[int] | None] | None:
    """The text as a model may read it, where that is another: look-alikes and full-width letters as Latin ones, invisible
    characters gone. With, where any were, the place in the original of each character that is left.
    """
    if text.isascii():
        return None
    hides = INVISIBLE.search(text) is not None
    if not hides and not _FULL_WIDTH.search(text) and next(_mixed_words(text), None) is None:
        return None
    read = text.translate(_AS_READ)
    if not hides:
        return read, None
    places = [at for at, letter in enumerate(read) if letter.isascii() or not INVISIBLE.match(letter)]
    return "".join([read[at] for at in places]), places


def like_latin(text: str) -> str:
    """Each letter that is drawn like a Latin one as that."""
    return "".join(_LIKE.get(letter, letter) for letter in text)


def made_visible(text: str) -> str:
    """Each character that has no shape, or that reorders others, as ⟨U+200B⟩; tag characters also as what they say."""
    return INVISIBLE.sub(lambda match: _shown(match.group()), _controls_shown(text))


def _controls_shown(text: str) -> str:
    return "".join(
        f"⟨U+{ord(letter):04X}⟩"
        if unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\n\t\r"
        else letter
        for letter in text
    )


def _shown(letter: str) -> str:
    code = ord(letter)
    said = f" {chr(code - 0xE0000)}" if 0xE0021 <= code <= 0xE007E else ""
    return f"⟨U+{code:04X}{said}⟩"


def _is_needed(text: str, match: re.Match[str]) -> bool:
    """True where a script, an emoji or a line break asks for what stands here."""
    run, start, end = match.group(), match.start(), match.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if len(run) > 2 or any(letter not in _SPACE + _JOINER + "\u034f" for letter in run):
        return False
    if run in ("\ufeff", "\u200b") and (start == 0 or end == len(text)):
        return True  # the mark at the beginning of a file; what an editor leaves at the end
    if run == "\u200d" and (_is_pictorial(before) or _is_pictorial(after)):
        return True
    beside = [letter for letter in (before, after) if letter]
    if all(letter.isascii() for letter in beside):
        # A soft hyphen or a break in a long Latin word is typography; a joiner between Latin letters is nothing.
        return run in ("\u00ad",) or (
            run in ("\u200b", "\u2060", "\ufeff") and not _inside_a_word(before, after)
        )
    return any(
        letter.isalpha() or unicodedata.category(letter).startswith(("M", "Z", "P")) for letter in beside
    )


def _inside_a_word(before: str, after: str) -> bool:
    return before.isalnum() and after.isalnum()


def _is_pictorial(letter: str) -> bool:
    return bool(letter) and (
        ord(letter) >= 0x1F000
        or letter in "\ufe0f\u2640\u2642\u2695\u2696\u2708\u2764"
        or unicodedata.category(letter) == "So"
    )


def _reordering(text: str) -> Iterator[tuple[str, int, int]]:
    """Overrides always; embeddings and isolates where nothing of their line runs from right to left."""
    line_end, runs_back = -1, False
    for match in _BIDI.finditer(text):
        at = match.start()
        if at > line_end:
            first, line_end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            line_end = len(text) if line_end < 0 else line_end
            runs_back = _RIGHT_TO_LEFT.search(text, first, line_end) is not None
        if not runs_back or _OVERRIDE.search(match.group()):
            yield BIDI, *match.span()


def _mixed_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Latin words in which letters of another script stand that are drawn like Latin ones. A Latin stem with a Cyrillic
    ending (JSONа) is how people write."""
    for match in _WORD.finditer(text):
        word = match.group()
        if word.isascii():
            continue
        foreign = [letter for letter in word if letter in _IN_WORDS]
        if not foreign or len(foreign) == len(word):
            continue
        if any(not letter.isascii() and letter not in _IN_WORDS for letter in word):
            continue
        if word[-1] not in _IN_WORDS or _turns(word) > 1:
            yield LOOKALIKE, *match.span()


def _turns(word: str) -> int:
    """How often the word changes between Latin and the other script."""
    return sum(one.isascii() != other.isascii() for one, other in pairwise(word))

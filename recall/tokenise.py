"""Words for full-text search, cut the same way for the index and for a query.

The databases' own parsers miss two-character Chinese words, `Go`, `k8` and the `user` in `getUserById`. So texts
are cut here; MySQL, MariaDB and SQLite only see tokens made of letters, digits and `_`, separated by spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

# InnoDB indexes nothing shorter (innodb_ft_min_token_size 3) nor longer (innodb_ft_max_token_size 84).
SHORTEST = 3
LONGEST = 64
# InnoDB's own list of words that it does not index; its server may have been told another list.
_STOP_WORDS = frozenset(
    "about are com for from how that the this und was what when where who will with www".split()  # noqa: SIM905
)
# Words that tell little: a search for any of the words leaves them out where it has others.
COMMON = frozenset(
    (  # noqa: SIM905
        "a an and are as at be been but by can could did do does for from had has have how i if in "
        "into is it its me my of on or our should so that the their them then there these they this "
        "those to us was we were what when where which who why will with would you your"
    ).split()
)
# Of a text's tokens, from which share on it counts as of another script than the model's.
MOST_FOREIGN = 0.1
# For CREATE VIRTUAL TABLE … USING fts5(…, tokenize=…): what is one token here is one token there.
FTS5_TOKENIZE = "unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '_'"

# Han, kana, bopomofo, Hangul, and the South-East Asian scripts, all written without spaces between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309f"
    "\u30a1-\u30ff\u3100-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003134f"
)
_INVISIBLE = dict.fromkeys([0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF])
# Letters that carry their stroke or ligature in one code point, which no decomposition takes away.
_STROKED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)
# InnoDB takes a character of four bytes for a separator (measured on MariaDB 10.11): such letters are spelt in hex.
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")
_RECORD_ID = re.compile(r"[a-z]{3}_(?:[0-9]+|[0-9a-f]{32})")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:[-._]+[A-Za-z0-9]+)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a text. A text matches it with the token `whole`, or with all of `parts`.

    `getUser`: whole `getuser`, parts `get`, `user`. A run of Chinese has no whole, only its bigrams as parts. A
    record's id (`dec_123`) has no parts: only the id itself matches.
    """

    whole: str
    parts: tuple[str, ...]

    @property
    def is_common(self) -> bool:
        return self.whole.rstrip("_") in COMMON


def search_text(text: str) -> str:
    """The tokens to index for a text, separated by spaces, in its order; repeated words stay repeated."""
    made: dict[str, str] = {}  # a long text repeats its words
    for chunk in (chunks := _chunks(text)):
        if chunk not in made:
            made[chunk] = " ".join(token for word in _words(chunk) for token in _index_tokens(word))
    return " ".join(tokens for chunk in chunks if (tokens := made[chunk]))


def is_of_another_script(tokens: Sequence[str]) -> bool:
    """Whether more than a tenth of a text's tokens are of a script that an English model hardly knows. Accents are folded
    away: a token that is not ASCII is of another script."""
    return sum(not token.isascii() for token in tokens) > MOST_FOREIGN * len(tokens)


def query_terms(text: str) -> list[Term]:
    """The words of a query, each once. To match all of it, match every term: its whole or all of its parts."""
    words = (word for chunk in dict.fromkeys(_chunks(text)) for word in _words(chunk))
    return list(dict.fromkeys(_term(word) for word in words))


def tokens_with_places(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """(start, end, tokens) of each word as it stands in the text; of an unspaced script each two characters.

    For marking what was found: the text is not normalised first, so a compatibility character may differ.
    """
    for match in _word_pattern().finditer(text):
        if match.lastgroup != "unspaced":
            yield match.start(), match.end(), _index_tokens((match.group(), False))
            continue
        clusters = _clusters(match.group())
        at = match.start()
        if len(clusters) == 1:
            yield at, match.end(), [_padded(clusters[0])]
        for first, second in pairwise(clusters):
            yield at, at + len(first) + len(second), [_padded(first + second), _padded(first)]
            at += len(first)


@cache
def _word_pattern() -> re.Pattern[str]:
    """A run of an unspaced script, or letters and digits joined by single `_`, `-`, `.` inside."""
    marks = "".join(chr(code) for code in range(0x300, 0x1F000) if unicodedata.category(chr(code))[0] == "M")
    marks = re.escape(marks)
    # `\w` knows no combining marks: without them Devanagari and Thai vowels would cut their words.
    spaced = rf"(?:[^\W_{_UNSPACED}][{marks}]*)+"
    # The ranges hold punctuation and code points without a character, too: `(?=\w)` leaves those out.
    unspaced = rf"(?P<unspaced>(?=\w)[{_UNSPACED}](?:(?=\w)[{_UNSPACED}]|[{marks}])*)"
    return re.compile(rf"{unspaced}|{spaced}(?:[-._‐‑]+{spaced})*")


def _chunks(text: str) -> list[str]:
    return unicodedata.normalize("NFKC", text).translate(_INVISIBLE).split()


def _words(chunk: str) -> list[tuple[str, bool]]:
    """(word, whether it is of an unspaced script), case kept."""
    if chunk.isascii():
        return [(word, False) for word in _ASCII_WORD.findall(chunk)]
    return [(match.group(), match.lastgroup == "unspaced") for match in _word_pattern().finditer(chunk)]


def _index_tokens(word: tuple[str, bool]) -> list[str]:
    text, unspaced = word
    if unspaced:
        clusters = _clusters(text)
        # Single characters too, so that a query of one character finds it inside a run.
        return [_padded(token) for token in (*_bigrams(clusters), *clusters)]
    whole, parts = _compound(text)
    return [whole, *parts]


def _term(word: tuple[str, bool]) -> Term:
    text, unspaced = word
    if unspaced:
        clusters = _clusters(text)
        return Term("", tuple(dict.fromkeys(_padded(token) for token in (_bigrams(clusters) or clusters))))
    whole, parts = _compound(text)
    return Term(whole, () if _RECORD_ID.fullmatch(whole) else tuple(dict.fromkeys(parts)))


def _compound(text: str) -> tuple[str, list[str]]:
    """The token of the whole word and, where it is a compound, those of its parts."""
    joined = re.split(r"[-._‐‑]+", text)
    whole = _padded("_".join(_folded(part) for part in joined))
    parts = [hump for part in joined for hump in (_HUMP.split(part) if part.isascii() else _humps(part))]
    if len(parts) == 1:
        return whole, []
    return whole, [_padded(folded) for part in parts if (folded := _folded(part))]


def _humps(text: str) -> list[str]:
    """camelCase of any script with two cases, cut as _HUMP cuts ASCII: `ПолучитьИмя`."""
    if text.islower() or text.isupper() or not any(letter.isupper() for letter in text[1:]):
        return [text]
    cuts = [0]
    for at in range(1, len(text)):
        before, here, after = text[at - 1], text[at], text[at + 1 : at + 2]
        if here.isupper() and (not before.isupper() or after.islower()):
            cuts.append(at)
    return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _folded(text: str) -> str:
    """Lower case, without the accents of Latin, Greek and Cyrillic; marks of other scripts are part of the word."""
    if text.isascii():
        return text.lower()
    folded: list[str] = []
    accents_go = False
    for letter in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text.casefold())):
        if unicodedata.combining(letter) or unicodedata.category(letter)[0] == "M":
            if accents_go:
                continue
        else:
            # Latin, Greek, Cyrillic and their extensions.
            accents_go = letter < "\u0530" or "\u1d00" <= letter < "\u2000" or "\ua640" <= letter < "\ua6a0"
        folded.append(letter)
    return unicodedata.normalize("NFC", "".join(folded)).translate(_STROKED)


def _clusters(text: str) -> list[str]:
    """Characters with their marks, kana folded to one width and case by NFKC already."""
    clusters: list[str] = []
    for letter in text:
        if clusters and unicodedata.category(letter)[0] == "M":
            clusters[-1] += letter
        else:
            clusters.append(letter)
    return clusters


def _bigrams(clusters: list[str]) -> list[str]:
    return [first + second for first, second in pairwise(clusters)]


def _padded(token: str) -> str:
    """The token as MySQL indexes it: padded with `_`, which no other token ends with, or cut; never a stop word."""
    if not token.isascii():
        token = _BEYOND_BMP.sub(lambda letter: f"u{ord(letter.group()):x}", token)
    token = token[:LONGEST].rstrip("_").ljust(SHORTEST, "_")
    return f"{token}_" if token in _STOP_WORDS else token

"""A guess of the language a record is written in, from its script and its commonest words."""

from __future__ import annotations

import re

_STOP_WORDS = {
    "en": "the and of to is that for with we this are be in it as on which",
    "de": "der die das und ist nicht wir ein eine zu den mit für auf werden dass von",
    "fr": "le la les des et est nous une pour dans que qui sur pas avec par du",
    "es": "el la los las que y de en un una para con por se es del como",
    "pt": "o a os as que e de em um uma para com por não do da é são",
    "it": "il lo la gli che e di un una per con non del della è sono",
    "nl": "de het een en van is niet wij we voor met dat op te zijn",
    "sv": "och att det som en är för på med vi av inte den till",
    "pl": "i w na że nie się z do jest to dla jak oraz przez",
    "tr": "ve bir bu için ile olarak da de olan gibi daha",
    "ru": "и в не на что с для это как по мы из",
    "uk": "і в не на що з для це як та ми із",
}
_SETS = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}
_CODE = re.compile(r"`{3}.{0,4000}?`{3}|`[^`\n]{0,200}`|https?://\S{1,300}|\]\([^()\n]{0,300}\)", re.DOTALL)


def guess_language(text: str) -> str:
    """An ISO 639-1 code; "en" where nothing tells."""
    sample = _CODE.sub(" ", text[:20000])
    letters = sum(1 for c in sample if c.isalpha())
    if not letters:
        return "en"
    kana = sum(1 for c in sample if "\u3040" <= c <= "\u30ff")
    hangul = sum(1 for c in sample if "\uac00" <= c <= "\ud7af")
    ideographs = sum(1 for c in sample if "\u4e00" <= c <= "\u9fff")
    # A Chinese character carries what three or four Latin letters do.
    if (kana + hangul + ideographs) * 4 > letters - (kana + hangul + ideographs):
        if hangul > kana + ideographs:
            return "ko"
        return "ja" if kana * 5 > ideographs else "zh"
    words = re.findall(r"[^\W\d_]+", sample.casefold())
    counts = {language: sum(1 for word in words if word in stop) for language, stop in _SETS.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] > counts["en"] and counts[best] >= 3 else "en"

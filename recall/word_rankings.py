"""The rankings that words give: the texts with all of them, with them side by side, with any of them.

Where the desk has many texts the index is asked for the rarest words, and what it finds is read (recall.frequency).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recall import fulltext
from recall.frequency import Frequencies, frequencies
from recall.tokenise import Term, query_terms

PHRASE, WORDS, SOME = "phrase", "words", "some words"
LONGEST_PHRASE = 8  # words
# What the index is asked for at most, once it is known in how many texts each word stands: any of the rarest words that
# together stand in so many texts (what meaning finds is ranked by its words too; without it, more are asked), and all of
# so many words, or of as few as leave so few texts to be read.
MOST_TEXTS, MOST_TEXTS_OF_WORDS_ALONE, MOST_ASKED_AT_ONCE, FEW_TEXTS = 3_000, 40_000, 5, 50
# So many of what the index finds, the best, are read to be ranked anew, and so many characters of each one's tokens.
MOST_READ, READ_OF_A_TEXT = 100, 6_000

Others = Callable[[], Sequence[str] | None]


def by_words(
    project_ids: list[int],
    text: str,
    terms: Sequence[Term],
    phrases: Sequence[str],
    without: Sequence[Term],
    count: int,
    others: Others | None = None,
) -> dict[str, list[str]]:
    """The rankings that words give, of `count` node ids each: `terms` are those of the text that tell something.

    `others` answers with the records that meaning found, to be ranked by their words beside what the index finds; it is
    called when the index has been asked, so that meaning may read meanwhile. None, of it or by it: meaning finds nothing.
    """
    known = frequencies()
    found = {WORDS: _with_all(project_ids, known, terms, phrases, without, count)}
    if 1 < len(query_terms(text)) <= LONGEST_PHRASE and not phrases:
        found[PHRASE] = _side_by_side(project_ids, text, without, found[WORDS], count)
    loose = _loose(terms)
    if len(loose) > 1 and not phrases and not without:
        found[SOME] = _with_some(project_ids, known, loose, count, others)
    return found


def _with_all(
    project_ids: list[int],
    known: Frequencies,
    terms: Sequence[Term],
    phrases: Sequence[str],
    without: Sequence[Term],
    count: int,
) -> list[str]:
    """The texts with all of the terms. The index is asked for the rarest, and what it finds is read: it works through every
    text that has one of the words that it is asked for."""
    terms = known.rarest_first(terms)
    asked = known.enough_of(terms, FEW_TEXTS, MOST_ASKED_AT_ONCE)
    if len(asked) < len(terms):
        rarest = [Term(known.rarest_of(term), ()) for term in asked]
        some = fulltext.matching(fulltext.all_of(rarest, phrases, without), project_ids, count)
        found = fulltext.having(terms, some)
        if len(some) < count or len(found) == len(some):
            return found
    return fulltext.matching(fulltext.all_of(terms, phrases, without), project_ids, count)


def _with_some(
    project_ids: list[int],
    known: Frequencies,
    terms: Sequence[Term],
    count: int,
    others: Others | None,
) -> list[str]:
    """The texts with any of the terms; where it is known how rare they are, the index is asked for the rarest, and what it
    finds and the others are read, and ranked by all of the terms."""

    def asked(most: int) -> list[str]:
        return fulltext.matching(fulltext.any_of(known.telling(terms, most)), project_ids, count)

    found = asked(MOST_TEXTS_OF_WORDS_ALONE if others is None else MOST_TEXTS)
    if not known.are_known:
        return found
    meant = others() if others is not None else None
    if others is not None and meant is None:
        found = asked(MOST_TEXTS_OF_WORDS_ALONE)
    read = list(dict.fromkeys([*found[:MOST_READ], *(meant or ())]))
    texts = fulltext.beginnings_of(read, READ_OF_A_TEXT)
    return list(dict.fromkeys([*known.best_first(terms, texts), *found]))


def _side_by_side(
    project_ids: list[int], text: str, without: Sequence[Term], with_all: list[str], count: int
) -> list[str]:
    """The texts in which the words stand as in this one: some of those with all of them."""
    if len(with_all) < count:
        return fulltext.having_side_by_side(text, with_all)
    return fulltext.matching(fulltext.all_of((), [text], without), project_ids, count)


def _loose(terms: Sequence[Term]) -> list[Term]:
    """The terms one by one; a run of an unspaced script, which is a sentence, each two characters for themselves."""
    return [
        one for term in terms for one in ([term] if term.whole else [Term(part, ()) for part in term.parts])
    ]

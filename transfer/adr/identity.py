"""Which record imported earlier a file is now: the same path, or a rename of it."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from transfer.adr.inline import folded
from transfer.adr.records import ParsedRecord

SKETCH_SIZE = 256
SHINGLE_WORDS = 4
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Fingerprint:
    """What tells a record from others: where it stands, what it is called, and a sketch of its body.

    `shingles` are the smallest hashes of the body's runs of four words: two sketches estimate the Jaccard similarity.
    """

    path: str
    title: str
    number: str | None
    digest: str
    shingles: frozenset[int] = field(repr=False)


@dataclass(frozen=True)
class Match:
    """A path now, the earlier path it was, how that is known, and the similarity of the bodies in [0, 1]."""

    now: str
    then: str
    how: str
    similarity: float


def fingerprint(path: str, title: str, number: str | None, body: str) -> Fingerprint:
    """The fingerprint of a record; white space and case of the body do not matter."""
    text = folded(body)
    return Fingerprint(
        path, title, number, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(), _sketch(text)
    )


def fingerprint_of(record: ParsedRecord) -> Fingerprint:
    """The fingerprint of a parsed record, by its key (a path, with an anchor inside a log)."""
    return fingerprint(record.key, record.title, record.number, record.body)


def similarity(one: frozenset[int], other: frozenset[int]) -> float:
    """Estimated Jaccard similarity of two bodies, in [0, 1]; two bodies too short for a shingle are not similar."""
    if not one or not other:
        return 0.0
    union = sorted(one | other)[:SKETCH_SIZE]
    return sum(1 for value in union if value in one and value in other) / len(union)


def match_renames(now: Sequence[Fingerprint], then: Iterable[Fingerprint]) -> list[Match]:
    """Each record now with the earlier one it is; those without a match are new.

    A path that is still there is itself; only paths that are gone can have become another one.
    """
    earlier = {record.path: record for record in then}
    matches = [
        Match(
            record.path, record.path, "same path", similarity(record.shingles, earlier[record.path].shingles)
        )
        for record in now
        if record.path in earlier
    ]
    taken = {match.now for match in matches}
    arrived = [record for record in now if record.path not in taken]
    gone = [record for path, record in earlier.items() if path not in taken]
    candidates = [found for new in arrived for old in _plausible(new, gone) if (found := _compare(new, old))]
    # The surest first; a record is matched once on either side, and never where two are equally likely.
    candidates.sort(key=lambda item: (-item[0], -item[1].similarity, item[1].now, item[1].then))
    used_now: set[str] = set()
    used_then: set[str] = set()
    for index, (_, match) in enumerate(candidates):
        if match.now in used_now or match.then in used_then or _tied(candidates, index, used_now, used_then):
            continue
        used_now.add(match.now)
        used_then.add(match.then)
        matches.append(match)
    return matches


def _plausible(new: Fingerprint, gone: list[Fingerprint]) -> list[Fingerprint]:
    return [
        old
        for old in gone
        if old.digest == new.digest
        or _same_words(new.title, old.title)
        or new.shingles & old.shingles
        or _stem(new.path) == _stem(old.path)
    ]


def _compare(new: Fingerprint, old: Fingerprint) -> tuple[int, Match] | None:
    alike = 1.0 if new.digest == old.digest else similarity(new.shingles, old.shingles)
    title = _same_words(new.title, old.title)
    number = new.number is not None and new.number == old.number
    stem = _stem(new.path) == _stem(old.path)
    if new.digest == old.digest and (title or alike == 1.0):
        return 5, Match(new.path, old.path, "same text", 1.0)
    if title and number and (alike >= 0.1 or stem):
        return 4, Match(new.path, old.path, "same number and title", alike)
    if title and alike >= 0.3:
        return 3, Match(new.path, old.path, "same title, similar text", alike)
    if (number or stem) and alike >= 0.4:
        return 2, Match(new.path, old.path, "same number or name, similar text", alike)
    if alike >= 0.7:
        return 1, Match(new.path, old.path, "similar text", alike)
    return None


def _tied(candidates: list[tuple[int, Match]], index: int, used_now: set[str], used_then: set[str]) -> bool:
    rank, match = candidates[index]
    for other_rank, other in candidates[index + 1 :]:
        if other_rank != rank or other.similarity < match.similarity - 0.02:
            break
        rival = (other.now == match.now) != (other.then == match.then)
        if rival and other.now not in used_now and other.then not in used_then:
            # Two equal texts: the one whose file name did not change is the rename.
            return not (_name(match.now) == _name(match.then) and _name(other.now) != _name(other.then))
    return False


def _sketch(text: str) -> frozenset[int]:
    words = [w for word in _WORD.findall(text) for w in (word if _unspaced(word) else (word,))]
    hashes: set[int] = set()
    for start in range(max(0, len(words) - SHINGLE_WORDS + 1)):
        run = " ".join(words[start : start + SHINGLE_WORDS]).encode("utf-8", "replace")
        hashes.add(int.from_bytes(hashlib.blake2b(run, digest_size=8).digest(), "big"))
    return frozenset(sorted(hashes)[:SKETCH_SIZE])


def _unspaced(word: str) -> bool:
    """Scripts that put no space between words are cut into characters."""
    return any("\u3040" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7af" for c in word)


def _same_words(one: str, other: str) -> bool:
    return bool(one) and _WORD.findall(folded(one)) == _WORD.findall(folded(other))


def _name(path: str) -> str:
    return posixpath.basename(path)


def _stem(path: str) -> str:
    """The words of a file name without its number and kind."""
    path, _, anchor = path.partition("#")
    stem = anchor or posixpath.splitext(posixpath.basename(path))[0]
    words = [
        w for w in _WORD.findall(folded(stem)) if not re.fullmatch(r"[0-9]+[xn]*|[xn]{2,}|adr|rfc|madr", w)
    ]
    return " ".join(words) or stem

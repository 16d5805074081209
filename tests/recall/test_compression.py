"""Compression leaves out, and never cuts: whole sentences, whole code blocks, within the limit."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.compression import GAP, CutText, compressed
from recall.tokens import count_tokens
from recall.units import LONGEST_READ, PassageScore, units_of

CODE = "```python\ndef get(key):\n    return cache[key]\n```"
TEXT = f"""The order service is old. It was written in 2011, e.g. in Perl. Nobody likes it.

## Decision

We cache prices in Redis because the database is slow. Dr. Who agreed.

{CODE}

- Keys live for 5 minutes.
- Misses read the database!

## 背景

我们决定使用缓存。它很快！但是贵。
"""


def pieces(text):
    return [text[unit.start : unit.end] for unit in units_of(text)]


def test_a_text_is_cut_at_sentences_items_and_code():
    assert pieces(TEXT) == [
        "The order service is old.",
        "It was written in 2011, e.g. in Perl.",
        "Nobody likes it.",
        "We cache prices in Redis because the database is slow.",
        "Dr. Who agreed.",
        CODE,
        "- Keys live for 5 minutes.",
        "- Misses read the database!",
        "我们决定使用缓存。它很快！但是贵。",
    ]


def test_scripts_without_spaces_or_latin_marks_have_sentences_too():
    long = "我们决定在订单服务里使用缓存来降低延迟。价格在数据库里变化得非常频繁因此缓存只保留五分钟。"
    assert len(pieces(long)) == 2
    assert len(pieces("हम ऑर्डर सेवा में कैश का उपयोग करेंगे। यह तेज़ है और सस्ता भी है। बस।")) == 3


def test_what_answers_is_kept_with_its_heading_and_the_gaps_are_marked():
    kept = compressed(TEXT, "Why are prices kept in Redis?", 40)
    assert "Decision: We cache prices in Redis because the database is slow." in kept.text
    assert kept.text.startswith(GAP)
    assert kept.text.endswith(GAP)
    assert not kept.is_whole


def test_a_code_block_is_kept_whole_or_not_at_all():
    for limit in range(10, 200, 10):
        text = compressed(TEXT, "def get cache key return", limit).text
        assert CODE in text or "def get" not in text
    assert CODE in compressed(TEXT, "def get cache key return", 120).text


def test_with_room_enough_nothing_is_left_out():
    kept = compressed(TEXT, "anything", 1000)
    assert kept.is_whole
    assert GAP not in kept.text
    assert compressed("", "x", 10).text == ""


def test_the_best_passage_is_preferred():
    text = "One thing is said here. " * 20 + "Another matter is told there. " * 20
    passages = [PassageScore(0, 480, 0.1), PassageScore(480, len(text), 0.6)]
    assert "One thing" not in compressed(text, "zebra", 60, passages).text


def test_of_a_huge_text_the_beginning_and_the_best_passages_are_read():
    text = (
        ("Filler of a long log goes on. " * 2000)
        + "The disk was full. "
        + ("More filler follows here. " * 2000)
    )
    at = text.index("The disk")
    kept = compressed(text, "disk full", 30, [PassageScore(at, at + 300, 0.7)])
    assert "The disk was full." in kept.text
    assert not compressed("x. Yes. " * LONGEST_READ, "x", 10**6).is_whole


ANY = st.text(st.characters(exclude_categories=()), max_size=600)
MARKED = st.lists(
    st.sampled_from(["# H\n", "```\n", "~~~~\n", "- a\n", "| b | c |\n", "word ", "A. ", "。", "…", "\n\n", "\r\n", "x" * 700, "🚀", "[UNK] "]),
    max_size=60,
).map("".join)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(text=ANY | MARKED, asked=ANY, limit=st.integers(0, 400), line_cost=st.integers(0, 1))
def test_the_limit_holds_for_any_text_and_every_unit_is_verbatim(text, asked, limit, line_cost):
    cut = CutText(text, line_cost=line_cost)
    for at in cut.by_worth(cut.values(asked)):
        if cut.tokens + cut.cost(at) <= limit:
            cut.take(at)
    joined = cut.joined()
    assert count_tokens(joined) + line_cost * (joined.count("\n") + bool(joined)) <= max(limit, 0)
    ends = [(unit.start, unit.end) for unit in cut.units]
    assert ends == sorted(ends)
    assert all(first[1] <= second[0] for first, second in pairwise(ends))


@settings(max_examples=150, deadline=None)
@given(ANY | MARKED, ANY | MARKED)
def test_tokens_add_up_across_white_space(one, other):
    for between in (" ", "\n"):
        assert count_tokens(f"{one}{between}{other}") == count_tokens(one) + count_tokens(other)


@pytest.mark.parametrize("word", ["🚀", "A" * 4000, "\u1234" * 9])
def test_an_unknown_word_is_counted_by_its_bytes(word):
    assert count_tokens(word) >= len(word.encode()) // 4

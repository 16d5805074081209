"""Diffs by word: complete, readable, and never slow."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records.diff import Piece, fold, render_diff, word_diff

TEXT = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(["red ", "fox", "\n", ", ", "数据库", "हिन्दी ", "the ", "  ", "\r\n", "🍺"]),
        max_size=60,
    ).map("".join),
)


def side(pieces, op):
    return "".join(piece.text for piece in pieces if piece.op in ("same", op))


@given(TEXT, TEXT)
@settings(max_examples=300, deadline=None)
def test_the_pieces_give_back_both_texts(before, after):
    pieces = word_diff(before, after)
    assert side(pieces, "del") == before
    assert side(pieces, "ins") == after
    assert all(piece.text for piece in pieces)
    assert all(one.op != other.op for one, other in pairwise(pieces))


@given(TEXT)
@settings(max_examples=50, deadline=None)
def test_equal_texts_have_no_change(text):
    assert word_diff(text, text) == ([Piece("same", text)] if text else [])


def test_a_changed_word_is_one_change():
    assert word_diff("Use Redis for it.", "Use Valkey for it.") == [
        Piece("same", "Use "),
        Piece("del", "Redis"),
        Piece("ins", "Valkey"),
        Piece("same", " for it."),
    ]


def test_neighbouring_changed_words_are_one_change():
    assert word_diff("a red fox ran", "a blue cat ran")[1:3] == [
        Piece("del", "red fox"),
        Piece("ins", "blue cat"),
    ]


def test_chinese_changes_by_character():
    assert word_diff("用数据库存", "用资料库存") == [
        Piece("same", "用"),
        Piece("del", "数据"),
        Piece("ins", "资料"),
        Piece("same", "库存"),
    ]


def test_lines_far_apart_change_alone():
    before = "".join(f"line {n}\n" for n in range(300))
    pieces = word_diff(before, before.replace("line 150\n", "line one-fifty\n"))
    assert [piece.op for piece in pieces] == ["same", "del", "ins", "same"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("word " * 200_000, "other " * 200_000),
        ("a\n" * 300_000, "b\na\n" * 150_000),
        ("".join(f"{n}\n" for n in range(100_000)), "".join(f"{n}\n" for n in range(100_000, 0, -1))),
        ("a b\n" * 9_000 + "x", "b a\n" * 9_000),
        ("数" * 300_000, "据数" * 150_000),
        ("same line\n\n" * 10_000 + "x", "x" + "same line\n\n" * 10_000),
        ("".join(f"{n % 97}\n" for n in range(19_000)), "".join(f"{n % 89}\n" for n in range(19_000))),
    ],
    ids=["words", "lines", "reversed", "swapped", "chinese", "shifted", "cycles"],
)
def test_huge_texts_are_compared_in_time_and_in_full(before, after):
    begun = time.process_time()
    pieces = word_diff(before, after)
    assert time.process_time() - begun < 5
    assert side(pieces, "del") == before
    assert side(pieces, "ins") == after


def test_long_unchanged_runs_fold_to_a_count():
    text = "word " * 100
    pieces = fold(word_diff(text + "old " + text, text + "new " + text), context=10)
    assert [piece.op for piece in pieces] == ["skip", "same", "del", "ins", "same", "skip"]
    assert pieces[0] == Piece("skip", "", words=90)
    assert pieces[1].text == "word " * 10
    assert pieces[-1].words == 90


@given(TEXT, TEXT, st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_folding_loses_no_change_and_counts_every_word(before, after, context):
    pieces = word_diff(before, after)
    folded = fold(pieces, context)
    changes = [piece for piece in pieces if piece.op != "same"]
    assert [piece for piece in folded if piece.op in ("del", "ins")] == changes
    words = sum(len(piece.text.split()) for piece in pieces)
    assert sum(piece.words + len(piece.text.split()) for piece in folded) == words


def test_a_diff_is_said_in_words_and_escaped():
    page = render_diff(word_diff("<b>old</b>", "<b>new</b>"))
    assert '<del><span class="visually-hidden">removed: </span>old</del>' in page
    assert '<ins><span class="visually-hidden">added: </span>new</ins>' in page
    assert "<b>" not in page
    assert "1,200 unchanged words" in render_diff([Piece("skip", "", words=1200)])


def test_a_change_of_space_alone_can_be_seen():
    assert 'class="space"' in render_diff([Piece("ins", "\n")])
    assert "↵" in render_diff([Piece("ins", "\n")])

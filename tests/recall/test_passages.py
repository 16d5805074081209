"""Passages: nothing lost, nothing over the limit, code whole, linear time."""

import base64
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.passages import PASSAGE_CHARACTERS, PASSAGE_TOKENS, record_text, split, token_count

MARKDOWN = st.lists(
    st.sampled_from(
        ["# Heading\n", "## Über uns\n", "\n\n", "```python\n", "```\n", "~~~\n", "- item. ", "word ", "数据库。", "가나 ",
         "x" * 150, "a.b.c ", "| a | b |\n", "\r\n", "हिन्दी ", "🍺", "\x1c", " " * 50, "Sentence one. Two! "]
    ),
    max_size=60,
).map("".join)  # fmt: skip


def check(text, title=""):
    """Every promise of split, on one text."""
    passages = split(text, title)
    at = 0
    for number, passage in enumerate(passages, start=1):
        assert passage.part == number
        assert text[at : passage.start].strip() == ""
        assert passage.start < passage.end <= passage.start + PASSAGE_CHARACTERS
        assert passage.text.endswith(text[passage.start : passage.end])
        assert token_count(passage.text) <= PASSAGE_TOKENS
        at = passage.end
    assert text[at:].strip() == ""
    return passages


@given(st.text(max_size=600), st.text(max_size=80))
@settings(max_examples=150, deadline=None)
def test_any_text_is_covered_within_the_limits(text, title):
    check(text, title)


@given(MARKDOWN, st.integers(1, 8))
@settings(max_examples=100, deadline=None)
def test_any_markdown_is_covered_within_the_limits(text, times):
    check(text * times, "Title of it")


def test_a_short_text_is_one_passage_under_its_title():
    (passage,) = split("We use Redis.\n", "Session cache")
    assert passage.text == "Session cache\nWe use Redis."
    assert (passage.part, passage.start, passage.end) == (1, 0, 13)


def test_blank_text_has_no_passage():
    assert split("", "Title") == split(" \n\t ", "Title") == []


def test_a_new_section_begins_a_new_passage_and_later_ones_carry_the_heading():
    body = "This sentence says something about the cache. " * 12
    passages = check(f"# Context\n\n{body}\n\n# Decision\n\n{body * 3}", "Cache")
    starts = [passage.text for passage in passages]
    assert starts[0].startswith("Cache\n# Context")
    assert any(text.startswith("Cache\n# Decision\n\nThis") for text in starts)
    assert starts[-1].startswith("Cache\n# Decision\nThis")


def test_short_sections_stay_together():
    (passage,) = split("# A\n\nStatus: accepted\n\n## B\n\nDate: today\n")
    assert passage.text.count("#") == 3


def test_a_heading_inside_code_is_no_heading():
    code = "```\n# not a heading\n" + "x = 1\n" * 30 + "```"
    text = "word " * 100 + "\n\n" + code + "\n\n" + "word " * 200
    assert not any("# not a heading\nword" in passage.text for passage in check(text))


def test_a_code_block_that_fits_stays_whole():
    code = "```python\n" + "print(value)\n" * 30 + "```"
    for before in range(0, 240, 20):
        passages = check("word " * before + "\n" + code + "\n\n" + "word " * 100)
        assert any(code in passage.text for passage in passages), before


def test_a_long_code_block_is_cut_between_lines():
    text = "```python\n" + "".join(f"value_{n} = compute({n})\n" for n in range(200)) + "```"
    for passage in check(text)[:-1]:
        assert text[passage.end] == "\n"


def test_long_prose_is_cut_between_sentences():
    text = "The cache was slow because the pool was small. " * 80
    assert all(passage.text.endswith(".") for passage in check(text))


@pytest.mark.parametrize(
    "text",
    [
        "The cache was slow, so we changed it.\n\n" * 25_000,
        "a" * 300_000,
        "数据库" * 100_000,
        "x." * 150_000,
        "\n" * 300_000 + "x",
        "a" + " " * 1_000_000 + "b",
        "```\n" * 100_000,
        "# a\n" * 100_000,
        "ไทยภาษา" * 40_000,
        "가나다" * 30_000,
        base64.b64encode(bytes(range(256)) * 880).decode(),
    ],
    ids=[
        "prose",
        "one-word",
        "chinese",
        "dots",
        "newlines",
        "spaces",
        "fences",
        "headings",
        "thai",
        "hangul",
        "base64",
    ],
)
def test_a_long_text_takes_linear_time(text):
    token_count("the tokenizer is loaded")
    begun = time.process_time()
    passages = split(text, "Title")
    assert time.process_time() - begun < 8  # below 2 on a quiet machine; quadratic work takes minutes
    assert passages[-1].end == len(text.rstrip())


def test_a_record_is_its_title_and_as_much_of_its_summary_as_the_model_reads():
    assert record_text("Title", "We decided.") == "Title\nWe decided."
    assert record_text("Title", " ") == "Title"
    assert record_text("", "") == ""
    long = record_text("Title " * 600, "summary " * 600)
    assert token_count(long) <= 254
    assert "summary" in long


@given(st.text(max_size=400), st.text(max_size=400))
@settings(max_examples=60, deadline=None)
def test_a_record_text_always_fits(title, summary):
    assert token_count(record_text(title * 5, summary * 5)) <= 254


def test_tokens_are_counted_as_the_model_counts():
    assert token_count("") == 0
    assert token_count("hello world") == 2
    assert token_count("数据库") == 3

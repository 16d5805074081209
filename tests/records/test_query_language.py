"""A line of search, taken apart: each filter, each date in words, and any string at all."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records.dates_in_words import days_of
from records.kinds import all_kinds, kind_named
from records.query_language import FILTERS, KNOWN, LONGEST_QUERY, parse

TODAY = date(2026, 4, 15)  # a Wednesday


def day(text):
    return date.fromisoformat(text)


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("2026-03-15", "2026-03-15", "2026-03-15"),
        ("2026-3-5", "2026-03-05", "2026-03-05"),
        ("2026-02", "2026-02-01", "2026-02-28"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2025", "2025-01-01", "2025-12-31"),
        ("Q1 2026", "2026-01-01", "2026-03-31"),
        ("2025-Q4", "2025-10-01", "2025-12-31"),
        ("March 15th", "2026-03-15", "2026-03-15"),
        ("15 March 2025", "2025-03-15", "2025-03-15"),
        ("the-15th-of-May", None, None),
        ("December 24", "2025-12-24", "2025-12-24"),
        ("Sept 1st, 2025", "2025-09-01", "2025-09-01"),
        ("march", "2026-03-01", "2026-03-31"),
        ("May", "2025-05-01", "2025-05-31"),
        ("today", "2026-04-15", "2026-04-15"),
        ("yesterday", "2026-04-14", "2026-04-14"),
        ("last week", "2026-04-06", "2026-04-12"),
        ("this-week", "2026-04-13", "2026-04-15"),
        ("last month", "2026-03-01", "2026-03-31"),
        ("last 30 days", "2026-03-16", "2026-04-15"),
        ("the past 2 weeks", "2026-04-01", "2026-04-15"),
        ("last-30-days", "2026-03-16", "2026-04-15"),
        ("7d", "2026-04-08", "2026-04-15"),
        ("last year", "2025-01-01", "2025-12-31"),
        (">2026-03-01", "2026-03-02", None),
        (">=2026-03", "2026-03-01", None),
        ("<2026-03", None, "2026-02-28"),
        ("<=2026-03", None, "2026-03-31"),
        ("2026-01..2026-02", "2026-01-01", "2026-02-28"),
        ("..2026-02", None, "2026-02-28"),
        ("2026-02..", "2026-02-01", None),
        ("2026-02-30", None, None),
        ("2026-03..2026-01", None, None),
        ("..", None, None),
        ("9999", None, None),
        ("smarch", None, None),
        ("", None, None),
    ],
)
def test_days_in_words(words, first, last):
    if first is None and last is None:
        with pytest.raises(ValueError, match="“"):
            days_of(words, TODAY)
    else:
        assert days_of(words, TODAY) == (first and day(first), last and day(last))


def parameters(text, kind="decision"):
    asked = parse(text, TODAY).parameters_for(kind_named(kind))
    return None if asked is None else {name: asked.getlist(name) for name in asked}


def test_words_phrases_ids_and_words_left_out():
    query = parse('redis "cache aside" -sessions dec_12 DEC_7 dec_x -- - "" http://a/b:c', TODAY)
    assert query.words == "redis dec_x -- - http://a/b:c"
    assert (query.phrases, query.without, query.ids) == (["cache aside"], ["sessions"], ["dec_12", "dec_7"])
    assert not query.problems


def test_each_filter_becomes_a_parameter_of_the_kinds_that_have_it():
    assert parameters("redis status:accepted,pending tag:latency by:order-bot is:unreviewed") == {
        "status": ["accepted", "pending"], "tag": ["latency"], "by": ["order-bot"], "review": ["unreviewed"],
    }  # fmt: skip
    assert parameters("confidence:>0.8 usage:>10", "pattern") == {
        "confidence_above": ["0.8"], "usage_min": ["11"],
    }  # fmt: skip
    assert parameters("confidence:0.5..0.8 usage:<3", "pattern") == {
        "confidence_min": ["0.5"], "confidence_max": ["0.8"], "usage_max": ["2"],
    }  # fmt: skip
    assert parameters("confidence:>0.8") is None  # a decision has none
    assert parameters("kind:pattern redis") is None
    assert parameters("kind:decisions redis") == {}


def test_a_date_goes_on_over_the_words_that_belong_to_it():
    query = parse("decided:last 30 days redis", TODAY)
    assert query.words == "redis"
    assert parameters("decided:last 30 days redis") == {
        "decided_after": ["2026-03-16"], "decided_before": ["2026-04-15"],
    }  # fmt: skip
    assert parse("decided:2026-03-15 30 servers", TODAY).words == "30 servers"
    assert parse('decided:"March 15th" x', TODAY).words == "x"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("foo:bar", "no filter “foo”"),
        ("status:", "needs a value"),
        ("status:,", "needs a value"),
        ("decided:someday", "“someday” is no day"),
        ("confidence:high", "“high” is no number"),
        ("usage:>0.5", "must be a whole number"),
        ("is:nice", "“nice” is none of"),
        ("kind:dog", "“dog” is none of"),
        ("-tag:x", "cannot be turned round"),
        ("confidence:>0.8 severity:high", "No kind of memory has all"),
        ("tag:a redis tag:b", "“tag:a” and “tag:b” cannot both"),
        ("decided:2026-03 decided:>2026-03-15", "cannot both"),
        ("is:open is:ended", "cannot both"),
        ("x" * (LONGEST_QUERY + 1), "at most 4,000 characters"),
    ],
)
def test_what_cannot_be_applied_is_explained(text, told):
    assert any(told in problem for problem in parse(text, TODAY).problems)


def test_several_filters_that_go_together_are_all_applied():
    assert parameters("decided:>=2026-03-01 decided:<2026-04 tag:a tag:a status:accepted status:pending") == {
        "decided_after": ["2026-03-01"], "decided_before": ["2026-03-31"], "tag": ["a", "a"], "status": ["accepted", "pending"],
    }  # fmt: skip
    assert not parse("confidence:>0.5 confidence:<0.8 is:unreviewed is:rejected", TODAY).problems


def test_prose_with_a_colon_is_words():
    query = parse("error: connection refused std::vector", TODAY)
    assert query.words == "error: connection refused std::vector"
    assert not query.problems


def test_every_filter_is_known_to_some_kind():
    for name, example in {
        **dict.fromkeys(FILTERS, "x"), "is": "open", "decided": "today", "started": "today", "occurred": "today",
        "confidence": "1", "usage": "1", "met": "1",
    }.items():  # fmt: skip
        assert parse(f"{name}:{example}", TODAY).searched_kinds(), name
    assert {"kind"} | set(FILTERS) == KNOWN
    assert all(kind.filterset is not None for kind in all_kinds())


LIKELY = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(sorted(KNOWN)).flatmap(lambda name: st.text(max_size=10).map(lambda value: f"{name}:{value}")),
        st.sampled_from(['"', "-", ":", "..", ">", "dec_1", "decided:last", "30", "days", "March", "٣", "\x00"]),
    ),
    max_size=12,
).map(" ".join)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(LIKELY)
def test_any_string_is_an_answer_or_an_explanation(text):
    query = parse(text, TODAY)
    for kind in all_kinds():
        query.parameters_for(kind)
    assert query.problems or not query.conditions or query.searched_kinds()

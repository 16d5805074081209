"""Tokens: what a person types is found in what was written."""

import re
import sqlite3
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.tokenise import FTS5_TOKENIZE, LONGEST, SHORTEST, Term, query_terms, search_text


def query_tokens(text):
    """The tokens of a query, each once, in its order."""
    return list(
        dict.fromkeys(token for term in query_terms(text) for token in (term.whole, *term.parts) if token)
    )


def found(query, text):
    """Whether a text matches all terms of a query: each by its whole or by all its parts."""
    tokens = set(search_text(text).split())
    return all(
        (term.whole and term.whole in tokens) or (term.parts and set(term.parts) <= tokens)
        for term in query_terms(query)
    )


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Go", "written in Go"),
        ("k8", "the k8 cluster"),
        ("getUser", "call getUserById first"),
        ("user", "call getUserById first"),
        ("get_user_by_id", "call getUserById first"),
        ("max retries", "MAX_RETRIES = 3"),
        ("order-bot", "order_bot wrote it"),
        ("order bot", "by order-bot"),
        ("node.js", "Node.js 20"),
        ("http", "HTTPServer2"),
        ("cafe", "Café"),
        ("CAFÉ", "cafe"),
        ("strasse", "Straße"),
        ("елка", "Ёлка"),
        ("Λογος", "λόγος"),
        ("lodz", "Łódź"),
        ("数据", "用数据库做缓存"),
        ("库", "用数据库做缓存"),
        ("Redis", "用Redis做缓存"),
        ("データ", "データベース"),
        ("ﾃﾞｰﾀ", "データベース"),
        ("데이터", "데이터베이스"),
        ("हिन्दी", "यह हिन्दी है"),
        ("ไทย", "ภาษาไทยง่าย"),
        ("𠀀𠀁", "用𠀀𠀁做"),
        ("123", "１２３"),
        ("dec_123", "see dec_123."),
        ("DEC_123", "see dec_123."),
        ("имя", "ПолучитьИмя"),
        ("v1.2.3", "released v1.2.3, at last"),
        ("__init__", "in __init__ of it"),
    ],
)
def test_a_query_finds_its_text(query, text):
    assert query_tokens(query)
    assert found(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("dec_12", "see dec_123"),
        ("dec_123", "dec 123 in words"),
        ("getUser", "get the group"),
        ("库数", "数据库"),
        ("हिन्दू", "हिन्दी"),
        ("go", "gone"),
    ],
)
def test_a_query_does_not_find_another_text(query, text):
    assert not found(query, text)


def test_ids_and_compounds_are_kept_whole_beside_their_parts():
    assert search_text("getUserById dec_123") == "getuserbyid get user by_ id_ dec_123 dec 123"
    assert query_terms("dec_123 order-bot") == [Term("dec_123", ()), Term("order_bot", ("order", "bot"))]


def test_marks_of_other_scripts_stay():
    assert search_text("हिन्दी") == "हिन्दी"
    assert "ก้" in search_text("ก้")
    assert "が" in search_text("が")


@given(st.text(max_size=300))
@settings(max_examples=400, deadline=None)
def test_any_text_gives_safe_tokens_and_finds_itself(text):
    index = set(search_text(text).split(" ")) - {""}
    for token in index:
        assert SHORTEST <= len(token) <= LONGEST
        assert all(c == "_" or c.isalnum() or unicodedata.category(c)[0] == "M" for c in token), token
    tokens = query_tokens(text)
    assert len(tokens) == len(set(tokens))
    assert set(tokens) <= index
    assert found(text, text)


@given(st.text(max_size=120))
@settings(max_examples=150, deadline=None)
def test_each_word_alone_is_found_in_the_whole(text):
    index = set(search_text(text).split())
    for word in text.split():
        assert set(query_tokens(word)) <= index


@given(st.text(alphabet="aB1_-. é数か😀\"'*+()", max_size=60))
@settings(max_examples=150, deadline=None)
def test_sqlite_finds_every_quoted_token(text):
    memory = sqlite3.connect(":memory:")
    memory.execute(f'CREATE VIRTUAL TABLE words USING fts5(body, tokenize="{FTS5_TOKENIZE}")')
    memory.execute("INSERT INTO words VALUES (?)", [search_text(text)])
    for token in query_tokens(text):
        count = memory.execute("SELECT count(*) FROM words WHERE words MATCH ?", [f'"{token}"']).fetchone()[0]
        assert count == 1, token
    memory.close()


@pytest.mark.parametrize(
    "text", ["a." * 300_000, "aB" * 300_000, "数据库" * 100_000, "é" * 500_000, "a_" * 400_000]
)
def test_a_long_text_takes_linear_time(text):
    begun = time.process_time()
    assert not re.search(r"\s{2}", search_text(text))
    assert time.process_time() - begun < 6  # below 1 on a quiet machine

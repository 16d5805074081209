"""Words asked of the database's own full-text index; the only module that writes its query languages.

A token of `recall.tokenise` is letters, digits, marks and `_`: inside double quotes it has no meaning of its own in
either language, and both are sent as parameters.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Left

from recall.models import SearchText
from recall.tokenise import Term, query_terms, search_text

# InnoDB refuses a phrase of more than 128 (error 191); where so many stand together, the rest hardly tells.
MOST_TOKENS_OF_A_PHRASE = 100


def all_of(terms: Sequence[Term], phrases: Sequence[str] = (), without: Sequence[Term] = ()) -> str:
    """An expression for texts with every term and phrase, and with none of those `without`."""
    wanted = [*map(_term, terms), *map(_phrase, phrases)]
    if connection.vendor == "mysql":
        return " ".join([*(f"+{one}" for one in wanted), *(f"-{_term(term)}" for term in without)])
    expression = " AND ".join(wanted)
    unwanted = " OR ".join(map(_term, without))
    return f"({expression}) NOT ({unwanted})" if unwanted else expression


def any_of(terms: Sequence[Term]) -> str:
    """An expression for texts with at least one of the terms."""
    return (" " if connection.vendor == "mysql" else " OR ").join(map(_term, terms))


def matching(expression: str, project_ids: Collection[int], limit: int) -> list[str]:
    """Node ids of the projects' texts that match, the most relevant first, ties by age."""
    return _matching(expression, "project_id", project_ids, limit)


def matching_among(expression: str, node_ids: Collection[str]) -> set[str]:
    """Those of the node ids whose texts match."""
    return set(_matching(expression, "node_id", node_ids, len(node_ids))) if node_ids else set()


def beginnings_of(node_ids: Sequence[str], characters: int) -> dict[str, str]:
    """Node id -> the first tokens of its text, separated by spaces: heading and tags stand there. In the order given."""
    rows = SearchText.objects.filter(node_id__in=node_ids)
    found = dict(rows.values_list("node_id", Left("words", characters))) if node_ids else {}
    return {node_id: found[node_id] for node_id in node_ids if node_id in found}


def having(terms: Sequence[Term], node_ids: Sequence[str]) -> list[str]:
    """Those of the node ids whose texts have every term: read, not asked of the index."""
    texts = _words_of(node_ids)
    return [node_id for node_id in node_ids if node_id in texts and _has({*texts[node_id].split()}, terms)]


def having_side_by_side(text: str, node_ids: Sequence[str]) -> list[str]:
    """Those of the node ids whose texts have the words of this one as they stand in it: read, not asked of the index."""
    together, texts = f" {search_text(text)} ", _words_of(node_ids)
    return [node_id for node_id in node_ids if together in f" {texts.get(node_id, '')} "]


def texts_with(words: str, phrases: Sequence[str] = ()) -> QuerySet[SearchText] | None:
    """The texts that have every word and phrase, as a subquery of a list; None where they are no words at all."""
    terms = query_terms(words)
    phrases = [phrase for phrase in phrases if query_terms(phrase)]
    if not terms and not phrases:
        return None
    rows, expression = SearchText.objects.order_by(), all_of(terms, phrases)
    if connection.vendor == "mysql":
        # A table of its own: MySQL finds nothing by MATCH in a subquery that it runs row by row.
        matches = "SELECT DISTINCT id FROM search_texts WHERE MATCH (words) AGAINST (%s IN BOOLEAN MODE)"
        keys = f"SELECT id FROM ({matches}) AS matching"
    else:
        keys = "SELECT rowid FROM search_texts_words WHERE search_texts_words MATCH %s"
    return rows.filter(pk__in=RawSQL(keys, [expression]))  # noqa: S611  (a parameter)


def drop_deleted_words() -> None:
    """SQLite's index only marks the words of a deleted text as such: written anew, it holds them no more. The servers
    do that in OPTIMIZE TABLE, which is an operator's to run (docs/erasing.md)."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO search_texts_words(search_texts_words) VALUES ('optimize')")


def _matching(expression: str, column: str, values: Collection[Any], limit: int) -> list[str]:
    places = ", ".join(["%s"] * len(values))
    if connection.vendor == "mysql":
        matches = "MATCH (words) AGAINST (%s IN BOOLEAN MODE)"
        # MySQL's index gives its texts in this order, ties by age, and is read no further than the limit: a second column
        # would have it read and sort them all.
        ties = ", id" if connection.mysql_is_mariadb else ""  # type: ignore[attr-defined]
        statement = (
            f"SELECT node_id FROM search_texts WHERE {matches} AND {column} IN ({places})"
            f" ORDER BY {matches} DESC{ties} LIMIT %s"
        )
        parameters = [expression, *values, expression, limit]
    else:
        statement = (
            "SELECT texts.node_id FROM search_texts_words JOIN search_texts AS texts ON texts.id = search_texts_words.rowid"
            f" WHERE search_texts_words MATCH %s AND texts.{column} IN ({places})"
            " ORDER BY bm25(search_texts_words), texts.id LIMIT %s"
        )
        parameters = [expression, *values, limit]
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return [node_id for (node_id,) in cursor.fetchall()]


def _words_of(node_ids: Sequence[str]) -> dict[str, str]:
    rows = SearchText.objects.filter(node_id__in=node_ids)
    return dict(rows.values_list("node_id", "words")) if node_ids else {}


def _has(tokens: set[str], terms: Sequence[Term]) -> bool:
    return all(term.whole in tokens or (bool(term.parts) and tokens.issuperset(term.parts)) for term in terms)


def _term(term: Term) -> str:
    """The whole word, or all of its parts."""
    whole = f'"{term.whole}"' if term.whole else ""
    if not term.parts:
        return whole
    if connection.vendor == "mysql":
        parts = " ".join(f'+"{part}"' for part in term.parts)
        return f"({whole} ({parts}))" if whole else f"({parts})"
    parts = " AND ".join(f'"{part}"' for part in term.parts)
    return f"({whole} OR ({parts}))" if whole else f"({parts})"


def _phrase(text: str) -> str:
    tokens = search_text(text).split()
    return f'"{" ".join(tokens[:MOST_TOKENS_OF_A_PHRASE])}"'

"""The graph's schema: neomodel classes made from the Kind registry, and what the server must have before it is used."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any

from django.db import models
from neomodel import (
    ArrayProperty,
    BooleanProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    StringProperty,
    StructuredNode,
    db,
)
from neomodel.properties import Property

from graph import connection, cypher, cypher_schema
from records.kinds import Kind, graph_kinds

# The first that sets labels named by a value; its vector indexes can be told not to quantise (since 5.18).
LEAST_SERVER = (5, 26)
ONLINE_SECONDS = 300


class SchemaProblem(RuntimeError):
    """The server cannot serve as the graph as it is."""


class Record(StructuredNode):
    """What every node of the desk has, whatever its kind: one look-up by id serves all kinds."""

    # The property `id` in Neo4j; neomodel keeps that name for itself.
    node_id = StringProperty(unique_index=True, required=True, db_property="id")
    kind = StringProperty()
    project_id = IntegerProperty(index=True)
    title = StringProperty()
    status = StringProperty()
    review_state = StringProperty()
    active = BooleanProperty()
    at = DateTimeNeo4jFormatProperty()
    embedding: Any = ArrayProperty(FloatProperty())
    embedding_of = StringProperty()
    version = IntegerProperty()


@cache
def node_class(kind: Kind) -> type[Record]:
    """The neomodel class of a kind: `nodes.get(node_id="dec_12")`. Not for an agent's or person's text."""
    own: dict[str, Any] = {
        name: _property(kind, name, value)
        for name, value in kind.graph_properties(kind.model()).items()
        if name not in Record.__all_properties__
    }
    return type(cypher.label_of(kind), (Record,), {**own, "__module__": __name__})


def node_classes() -> Iterator[type[Record]]:
    return (node_class(kind) for kind in graph_kinds())


def _property(kind: Kind, name: str, blank: Any) -> Property[Any]:
    """By the column of that name, or by the value that a blank record has."""
    columns = {column.name: column for column in kind.model._meta.concrete_fields}
    column = columns.get(name)
    if isinstance(column, models.DateTimeField) or isinstance(blank, datetime):
        return DateTimeNeo4jFormatProperty()
    if isinstance(column, models.BooleanField) or isinstance(blank, bool):
        return BooleanProperty()
    if isinstance(column, models.FloatField) or isinstance(blank, float):
        return FloatProperty()
    if isinstance(column, models.IntegerField) or isinstance(blank, int):
        return IntegerProperty()
    return StringProperty()


def check_server() -> str:
    """`5.26.12 community`; SchemaProblem where that server cannot do it."""
    version, edition = cypher_schema.server()
    numbers = tuple(int(part) for part in version.split("-")[0].split(".")[:2] if part.isdecimal())
    if numbers < LEAST_SERVER:
        raise SchemaProblem(
            f"This is Neo4j {version}; Memory Desk needs {'.'.join(map(str, LEAST_SERVER))} or newer,"
            " whose vector indexes need not be quantised. Tested with 5.26."
        )
    return f"{version} {edition}"


def install_schema() -> None:
    """Constraints and indexes, where they are missing; returns when all are online."""
    create_schema()
    db.cypher_query(cypher_schema.AWAIT_INDEXES, {"seconds": ONLINE_SECONDS})
    if problems := schema_problems():
        raise SchemaProblem("; ".join(problems))


def create_schema() -> None:
    """The same without waiting: indexes of a graph that has records are filled for a while."""
    db.set_connection(driver=connection.driver())
    for cls in (Record, *node_classes()):
        db.install_labels(cls, stdout=io.StringIO())
    for kind in graph_kinds():
        db.cypher_query(cypher_schema.create_vector_index(kind))
        if kind.edges_of is not None and kind.status_column:
            db.cypher_query(cypher_schema.create_state_index(kind))


def vector_indexes() -> list[str]:
    """Of kinds and of projects, by name."""
    projects = map(cypher.project_index_of, cypher.all_project_indexes())
    return [*map(cypher.vector_index_of, graph_kinds()), *projects]


def schema_problems() -> list[str]:
    """What is missing, not online, or made otherwise than the desk needs it."""
    found = {
        row[0]: row for row in connection.fetch(cypher_schema.INDEXES, {}, seconds=connection.WRITE_SECONDS)
    }
    problems = [f"index {name} is {row[1]}" for name, row in found.items() if row[1] != "ONLINE"]
    unique = {(tuple(row[3] or ()), tuple(row[4] or ())) for row in found.values()}
    for label in ("Record", *(cypher.label_of(kind) for kind in graph_kinds())):
        if ((label,), ("id",)) not in unique:
            problems.append(f"{label}.id has no unique constraint")
    for kind in graph_kinds():
        name = cypher.vector_index_of(kind)
        if name not in found:
            problems.append(f"vector index {name} is missing")
            continue
        config = found[name][5] or {}
        if config.get("vector.dimensions") != cypher.DIMENSION:
            problems.append(f"vector index {name} is not of {cypher.DIMENSION} dimensions")
        if str(config.get("vector.similarity_function")).lower() != "cosine":
            problems.append(f"vector index {name} does not compare by cosine")
        if config.get("vector.quantization.enabled") is not False:
            problems.append(
                f"vector index {name} is quantised, which loses neighbours: drop it, then run graph_setup"
            )
    return problems

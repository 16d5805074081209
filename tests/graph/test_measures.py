"""What no page waits for is given more time than a page: a large graph, or a server that has just started."""

from contextlib import suppress

import pytest

from graph import connection, cypher_schema, nodes


@pytest.mark.parametrize(
    "measure",
    [
        cypher_schema.counts_by_kind,
        cypher_schema.counts_by_relation,
        cypher_schema.server,
        lambda: cypher_schema.versions_after("", 10),
        nodes.schema_problems,
    ],
)
def test_a_measure_has_the_time_of_the_worker(monkeypatch, measure):
    given = []

    def fetch(statement, parameters, *, seconds=connection.READ_SECONDS):
        given.append(seconds)
        return [("5.26", "community")]

    monkeypatch.setattr(cypher_schema, "fetch", fetch)
    monkeypatch.setattr(connection, "fetch", lambda *a, **named: fetch(*a, **named) and [])
    with suppress(ValueError, IndexError):  # the rows are not those of this measure
        measure()
    assert given == [connection.WRITE_SECONDS]

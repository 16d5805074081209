"""GRAPH_URL is taken apart once, and refused aloud where it cannot be right."""

import pytest

from graph.address import GraphAddress, parse_graph_url


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("bolt://localhost", GraphAddress("bolt://localhost:7687")),
        ("neo4j+s://u:p%40%2F@db.example:1234", GraphAddress("neo4j+s://db.example:1234", "u", "p@/")),
        ("bolt://u:@h:1/memory.desk-1", GraphAddress("bolt://h:1", "u", "", "memory.desk-1")),
        ("bolt://[::1]:7688", GraphAddress("bolt://[::1]:7688")),
    ],
)
def test_an_address_is_taken_apart(url, address):
    assert parse_graph_url(url) == address


def test_empty_is_no_neo4j():
    assert parse_graph_url(" ") is None


@pytest.mark.parametrize(
    "url",
    [
        "localhost:7687",
        "http://localhost:7474",
        "bolt://",
        "bolt://h:port",
        "bolt://h:99999",
        "bolt://:secret@h",
        "bolt://u@h",
        "bolt://h?secret=1",
        "bolt://h/a b",
        "bolt://u:secret@[h",
    ],
)
def test_what_cannot_be_right_is_refused_without_its_password(url):
    with pytest.raises(ValueError, match="GRAPH_URL") as refused:
        parse_graph_url(url)
    assert "secret" not in str(refused.value)


def test_no_address_shows_its_password():
    assert "secret" not in repr(parse_graph_url("bolt://u:secret@h"))

"""A plain MySQL source beside the desk under test, and a folder of documents."""

from __future__ import annotations

import os
from pathlib import Path

import pymysql
import pytest

from tests.graph.server import clean_graph, graph_address, graph_schema  # noqa: F401
from tests.transfer.adr_folder import CACHE
from tests.transfer.plain_world import PlainSource, fill, fill_odd, server_url

ROWS = 100


def made_source(suffix: str) -> PlainSource:
    url = server_url()
    if url is None:
        pytest.skip("needs a MySQL to read from: TEST_MYSQL_URL")
    try:
        return PlainSource(url, suffix)
    except pymysql.err.OperationalError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"needs a MySQL to read from: {error}")


@pytest.fixture(scope="module")
def odd_source(django_db_setup):
    """A hundred ordinary rows and the odd ones; only read by its tests. `ids` by what is odd about a row."""
    source = made_source("plain")
    fill(source, ROWS)
    source.ids = fill_odd(source)
    yield source
    source.drop()


@pytest.fixture
def plain_source(django_db_setup):
    """Empty tables, for the test to fill."""
    source = made_source("own")
    yield source
    source.drop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "adr"
    place.mkdir()
    (place / "0001-cache.md").write_text(CACHE, encoding="utf-8")
    return place

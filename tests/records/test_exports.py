"""CSV and JSON: the rows of the list, in its order, all columns, no formulas, streamed page by page."""

import csv
import io
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from records.kinds import kind_named
from records.pages import exports
from tests.records.samples import LISTS, list_url, make, write_as_sql

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]


def text_of(answer):
    return b"".join(answer.streaming_content).decode()


def as_csv(client, kind, **query):
    answer = client.get(list_url(kind), {"format": "csv", **query})
    text = text_of(answer)
    assert text.startswith("\ufeff"), "Excel reads UTF-8 by this mark only"
    return list(csv.DictReader(io.StringIO(text[1:])))


def as_json(client, kind, **query):
    return json.loads(text_of(client.get(list_url(kind), {"format": "json", **query})))


@pytest.mark.parametrize("kind", LISTS)
def test_every_column_of_every_row_is_in_both(as_viewer, agent, project, kind):
    record = make(kind, agent, project, "Ünïcode 🙂", tags=["a", "b,c"])
    (row,), (same,) = as_csv(as_viewer, kind), as_json(as_viewer, kind)
    columns = {column.attname for column in type(record).versioned_fields()} | set(record.counters)
    assert set(row) == set(same) == columns | {"node_id", "version"}
    assert row["node_id"] == same["node_id"] == record.node_id
    assert same["tags"] == ["a", "b,c"]
    assert json.loads(row["tags"]) == ["a", "b,c"]
    assert any("Ünïcode 🙂" in str(value) for value in row.values())
    assert same["created_at"].endswith("+00:00")
    assert "T" in same["created_at"]


@pytest.mark.parametrize("name", ["csv", "json"])
def test_the_file_is_named_and_typed(as_viewer, agent, project, name):
    answer = as_viewer.get(list_url("decision"), {"format": name})
    assert answer.streaming
    assert answer["Content-Type"] == {"csv": "text/csv", "json": "application/json"}[name] + "; charset=utf-8"
    assert answer["Content-Disposition"].startswith('attachment; filename="shop-decision-')
    assert text_of(answer).strip()


@pytest.mark.parametrize(
    "start", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", '=HYPERLINK("http://x","y")']
)
def test_a_cell_is_never_a_formula(as_viewer, agent, project, start):
    record = make("decision", agent, project)
    write_as_sql(record, title=start, rationale=start, decision=f'{start}\nsecond line, with "quotes"')
    (row,) = as_csv(as_viewer, "decision")
    for column in ("title", "rationale", "decision"):
        assert row[column].startswith("'"), (column, row[column])
    assert as_json(as_viewer, "decision")[0]["title"] == start


def test_a_number_stays_a_number(as_viewer, agent, project):
    make("outcome", agent, project, success_rate=0.5)
    assert as_csv(as_viewer, "outcome")[0]["success_rate"] == "0.5"
    assert as_json(as_viewer, "outcome")[0]["success_rate"] == 0.5


def test_the_filter_and_the_order_of_the_list_hold(as_viewer, agent, project, monkeypatch):
    monkeypatch.setattr(exports, "ROWS_A_QUERY", 3)
    made = [
        make("pattern", agent, project, f"No {n}", confidence=0.5, tags=["odd"] if n % 2 else [])
        for n in range(8)
    ]
    keys = [record.node_id for record in made]
    assert [row["node_id"] for row in as_csv(as_viewer, "pattern", sort="confidence")] == keys[::-1]
    assert [row["node_id"] for row in as_json(as_viewer, "pattern", tag="odd")] == keys[1::2][::-1]
    decisions = [make("decision", agent, project, str(n), decided_at=made[0].created_at) for n in range(7)]
    keys = [record.node_id for record in decisions]
    assert [row["node_id"] for row in as_csv(as_viewer, "decision", sort="oldest")] == keys
    assert [row["node_id"] for row in as_json(as_viewer, "decision", sort="newest")] == keys[::-1]
    listed = as_viewer.get(list_url("decision"), {"sort": "oldest"}).context["rows"]
    assert [row.node_id for row in listed] == keys


def test_an_empty_list_is_an_empty_file(as_viewer, project):
    assert as_csv(as_viewer, "run") == []
    assert as_json(as_viewer, "run") == []


def test_a_wrong_filter_is_no_file(as_viewer, project):
    for query in ({"colour": "red"}, {"sort": "x"}, {"review": "maybe"}):
        answer = as_viewer.get(list_url("decision"), {"format": "csv", **query})
        assert answer.status_code == 422
        assert "text/html" in answer["Content-Type"]


def test_a_stranger_gets_none_and_a_cursor_is_not_asked_for(
    client, stranger_user, viewer_user, agent, project
):
    client.force_login(stranger_user)
    assert client.get(list_url("decision"), {"format": "csv"}).status_code == 404
    client.force_login(viewer_user)
    make("decision", agent, project)
    assert len(as_json(client, "decision", cursor="garbage")) == 1


def test_the_links_of_the_page_lead_to_its_own_rows(as_viewer, agent, project):
    make("decision", agent, project, tags=["redis"])
    page = as_viewer.get(list_url("decision"), {"tag": "redis", "show": "all"})
    assert page.context["csv_url"] == list_url("decision") + "?tag=redis&show=all&format=csv"
    assert len(json.loads(text_of(as_viewer.get(page.context["json_url"])))) == 1


def test_one_query_a_page_of_rows(as_viewer, agent, project, monkeypatch):
    monkeypatch.setattr(exports, "ROWS_A_QUERY", 5)
    for number in range(14):
        make("outcome", agent, project, str(number))
    kind = kind_named("outcome")
    with CaptureQueriesContext(connection) as asked:
        assert len(as_csv(as_viewer, "outcome")) == 14
    assert len([query for query in asked if kind.model._meta.db_table in query["sql"]]) == 3

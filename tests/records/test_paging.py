"""Keyset paging against a sorted list: equal sort keys, both directions, rows that come in between, bad cursors."""

import base64
import json
import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decisions.filters import DecisionFilterSet
from decisions.models import Decision
from patterns.filters import PatternFilterSet
from patterns.models import Pattern
from projects.models import Project
from records.errors import InvalidInput
from records.guard import writing
from records.paging import Sort, paginate
from runs.filters import RunFilterSet
from runs.models import Run
from tests.records.samples import list_url, make

pytestmark = [pytest.mark.database, pytest.mark.django_db]
NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
NEWEST, OLDEST = DecisionFilterSet.sorts
SORTS = [
    *((Pattern, sort) for sort in PatternFilterSet.sorts),
    *((Decision, sort) for sort in DecisionFilterSet.sorts),
    *((Run, sort) for sort in RunFilterSet.sorts),
]


def fill(model, project, keys, sort):
    """Rows whose sort keys are these small numbers."""
    column = model._meta.get_field(sort.key).get_internal_type()
    values = {
        "FloatField": lambda n: n / 7,
        "IntegerField": lambda n: n,
    }.get(column, lambda n: NOW + timedelta(microseconds=n))
    with writing():
        model.objects.filter(project=project).delete()
        model.objects.bulk_create([model(project=project, **{sort.key: values(n)}) for n in keys])


def in_order(model, project, sort):
    rows = list(model.objects.filter(project=project))
    return [
        row.pk
        for row in sorted(rows, key=lambda row: (getattr(row, sort.key), row.pk), reverse=sort.descending)
    ]


def walk(rows, sort, size, forwards=True, cursor=None):
    """The keys of each page, to the end."""
    pages = []
    while True:
        page = paginate(rows, sort, cursor, size=size)
        pages.append([row.pk for row in page.items])
        cursor = page.next_cursor if forwards else page.previous_cursor
        if cursor is None:
            return pages


@pytest.mark.parametrize(("model", "sort"), SORTS, ids=lambda value: getattr(value, "name", value))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys=st.lists(st.integers(0, 3), max_size=17), size=st.integers(1, 6))
def test_pages_are_the_sorted_rows_cut_in_pieces(project, model, sort, keys, size):
    fill(model, project, keys, sort)
    rows = model.objects.filter(project=project)
    expected = in_order(model, project, sort)
    pages = walk(rows, sort, size)
    assert [key for page in pages for key in page] == expected
    assert all(len(page) == size for page in pages[:-1])
    last = paginate(rows, sort, None, size=size)
    while last.next_cursor:
        last = paginate(rows, sort, last.next_cursor, size=size)
    if last.previous_cursor:
        back = walk(rows, sort, size, forwards=False, cursor=last.previous_cursor)
        assert [key for page in reversed(back) for key in page] == expected[: len(expected) - len(last.items)]


def test_rows_that_come_in_between_repeat_nothing_and_lose_nothing(project, agent):
    made = [make("decision", agent, project, str(n), decided_at=NOW).pk for n in range(6)]
    rows = Decision.objects.filter(project=project)
    first = paginate(rows, NEWEST, None, size=2)
    newer = make("decision", agent, project, "newer", decided_at=NOW + timedelta(days=1)).pk
    older = make("decision", agent, project, "older", decided_at=NOW - timedelta(days=1)).pk
    rest = [key for page in walk(rows, NEWEST, 2, cursor=first.next_cursor) for key in page]
    assert [item.pk for item in first.items] + rest == [*reversed(made), older]
    second = paginate(rows, NEWEST, first.next_cursor, size=2)
    before = paginate(rows, NEWEST, second.previous_cursor, size=2)
    assert [item.pk for item in before.items] == [item.pk for item in first.items]
    assert [item.pk for item in paginate(rows, NEWEST, before.previous_cursor, size=2).items] == [newer]


def test_the_row_that_a_cursor_names_may_be_gone(project, agent):
    made = [make("decision", agent, project, str(n), decided_at=NOW).pk for n in range(4)]
    rows = Decision.objects.filter(project=project)
    page = paginate(rows, OLDEST, None, size=2)
    rest = [item.pk for item in paginate(rows.exclude(pk=made[1]), OLDEST, page.next_cursor, size=2).items]
    assert rest == made[2:]


def encoded(*parts):
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


WHEN = NOW.isoformat()
BAD_CURSORS = [
    "", "!", "a", "====", "é", "\x00", "A" * 10_000, encoded(), encoded("newest"), encoded("newest", "n", WHEN),
    encoded("newest", "n", WHEN, 1, 2), encoded("oldest", "n", WHEN, 1), encoded("newest", "x", WHEN, 1),
    encoded("newest", "n", None, 1), encoded("newest", "n", WHEN, None), encoded("newest", "n", 5, 1),
    encoded("newest", "n", "soon", 1), encoded("newest", "n", [WHEN], 1), encoded("newest", "n", WHEN, [1]),
    encoded("newest", "n", WHEN, "one"), encoded("newest", "n", WHEN, -1), encoded("newest", "n", WHEN, 2**63),
    encoded("newest", "n", WHEN, 1.5), encoded("newest", "n", WHEN, True), encoded("newest", "n", {}, 1),
    encoded("newest", "n", "0001-01-01T00:00:00+14:00", 1), encoded("newest", "n", "9999-12-31T23:59:59-12:00", 1),
    encoded("newest", "n", "2026-03-15T12:00:00", 1), encoded("newest", "n", "2026-13-45T99:00:00Z", 1),
    base64.urlsafe_b64encode(b"[" * 5000).decode(), base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    base64.urlsafe_b64encode(b"1" * 5000).decode(), base64.urlsafe_b64encode(b'"text"').decode(), encoded({"a": 1}, 2, 3, 4),
]  # fmt: skip


@pytest.mark.parametrize("cursor", BAD_CURSORS[1:], ids=range(len(BAD_CURSORS) - 1))
def test_a_cursor_that_this_order_did_not_make_is_refused(project, cursor):
    with pytest.raises(InvalidInput) as refusal:
        list(paginate(Decision.objects.filter(project=project), NEWEST, cursor).items)
    assert list(refusal.value.errors) == ["cursor"]


@pytest.mark.parametrize("key", [math.nan, math.inf, -math.inf, "nan", "x", None, [], {}, True])
def test_a_cursor_that_holds_no_finite_number_is_refused(project, key):
    confidence = next(sort for sort in PatternFilterSet.sorts if sort.name == "confidence")
    with pytest.raises(InvalidInput):
        paginate(Pattern.objects.filter(project=project), confidence, encoded("confidence", "n", key, 1))


@pytest.mark.parametrize("key", [10**30, -(10**30), 2**31])
def test_a_number_beyond_the_column_is_an_empty_page_or_the_whole_list(project, agent, key):
    usage = next(sort for sort in PatternFilterSet.sorts if sort.name == "usage")
    make("pattern", agent, project)
    page = paginate(Pattern.objects.filter(project=project), usage, encoded("usage", "n", key, 1))
    assert len(page.items) == (key > 0)


@pytest.mark.parametrize("pk", ["\ud800", "a\x00b", [], None, True, 1.5])
def test_a_hex_key_must_be_text_that_a_database_takes(project, pk):
    with pytest.raises(InvalidInput):
        paginate(Run.objects.filter(project=project), RunFilterSet.sorts[0], encoded("newest", "n", WHEN, pk))


@pytest.mark.parametrize("kind", ["pattern", "run"])
def test_no_cursor_makes_a_page_fail(client, viewer_user, project, agent, kind):
    make(kind, agent, project)
    client.force_login(viewer_user)
    for cursor in BAD_CURSORS[1:]:
        answer = client.get(list_url(kind), {"cursor": cursor}, headers={"HX-Request": "true"})
        may = (200, 422) if kind == "run" else (422,)  # any text may be the key of a run
        assert answer.status_code in may, cursor[:60]
    assert client.get(list_url(kind), {"cursor": ""}).status_code == 200


def test_a_cursor_of_another_order_is_refused_on_the_page(client, viewer_user, agent):
    project = Project.objects.get(slug="shop")
    for number in range(51):
        make("pitfall", agent, project, str(number))
    client.force_login(viewer_user)
    page = client.get(list_url("pitfall")).context["next_url"]
    assert client.get(page).status_code == 200
    assert client.get(page + "&sort=met").status_code == 422


def test_the_order_must_be_named_by_the_cursor():
    assert Sort("a", "", "created_at").descending

"""Calls a minute: by token, over all processes, with Retry-After; wrong tokens by address."""

import time

import pytest
from django.db import connection

from projects import call_counts
from projects.call_counts import seconds_to_wait
from projects.models import CallCount
from tests.agent_api.conftest import ApiClient

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def anew():
    call_counts.forget()
    yield
    call_counts.forget()


@pytest.fixture
def early(monkeypatch):
    """In the first second of a minute, so that none ends between two calls."""
    now = time.time() // 60 * 60 + 0.5
    monkeypatch.setattr("projects.call_counts.time.time", lambda: now)


def test_reads_and_writes_are_counted_apart_and_by_token(early, api, reviewer, settings):
    settings.API_READS_PER_MINUTE, settings.API_WRITES_PER_MINUTE = 3, 2
    assert [api.get("/me").status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = api.get("/me")
    assert refused["Content-Type"] == "application/problem+json"
    assert 1 <= int(refused["Retry-After"]) <= 61
    body = {"category": "c", "title": "T"}
    assert [api.post("/pitfalls", body).status_code for _ in range(3)] == [201, 201, 429]
    assert reviewer.get("/me").status_code == 200


def test_the_next_minute_begins_anew():
    start = time.time() // 60 * 60
    assert [seconds_to_wait("a", 2, start) for _ in range(2)] == [0, 0]
    assert seconds_to_wait("a", 2, start + 50) == 11
    assert seconds_to_wait("a", 2, start + 60) == 0
    assert [seconds_to_wait("b", 0, start) for _ in range(5)] == [0] * 5


def test_wrong_tokens_are_throttled_by_address_and_hold_up_no_right_one(early, api, settings):
    settings.API_FAILURES_PER_MINUTE = 3
    wrong = ApiClient("mdk_wrong")
    assert [wrong.get("/me").status_code for _ in range(5)] == [401, 401, 401, 429, 429]
    assert wrong.get("/me")["Retry-After"]
    assert api.get("/me").status_code == 200


def test_processes_share_their_counts():
    if connection.vendor == "sqlite":
        pytest.skip("SQLite is served by one process: there is nothing to share")
    start = time.time() // 60 * 60
    for process in range(3):  # each knows only what the row says
        call_counts.forget()
        assert seconds_to_wait("a", 100, start + process) == 0
        assert [seconds_to_wait("a", 100, start + process) for _ in range(9)] == [0] * 9
        assert seconds_to_wait("a", 100, start + process + 1.5) == 0  # shared once a second
    assert CallCount.objects.get(who="a").calls == 33
    call_counts.forget()
    assert seconds_to_wait("a", 34, start + 10) == 0
    assert seconds_to_wait("a", 34, start + 11.5) > 0


def test_a_call_costs_no_statement_of_its_own(api, django_assert_max_num_queries):
    seconds_to_wait("a", 1000)
    with django_assert_max_num_queries(0):
        for _ in range(20):
            seconds_to_wait(
                "a",
                1000,
                call_counts._counts["a"].shared_at + 0.1 if call_counts._counts["a"].shared_at else None,
            )

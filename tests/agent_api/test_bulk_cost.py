"""What a bulk costs: statements do not grow with its items."""

from __future__ import annotations

import re
import uuid

import pytest
from django.db import connection
from django.db.models import Count
from django.test.utils import CaptureQueriesContext

from runs.models import PayloadValue
from tests.agent_api.bulk_items import OWN_TIME, PLURALS, distinct

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.mark.parametrize("plural", PLURALS)
def test_statements_do_not_grow_with_the_items_but_for_batches(api, decision, plural):
    def cost(count: int) -> int:
        items = distinct(plural, decision.node_id, count)
        with CaptureQueriesContext(connection) as asked:
            assert api.post(f"/{plural}/bulk", {"items": items}).data["written"] == count
        return sum(not re.match(OWN_INSERT, one["sql"].replace("`", '"')) for one in asked)

    cost(2)  # the first call notes that the token is used
    # SQLite takes 999 values a statement; MySQL tells the key of one new row alone (OWN_INSERT).
    assert cost(100) - cost(10) <= 25


OWN_INSERT = r'INSERT INTO "(architecture_decisions|outcomes|code_patterns|pitfalls|work_sessions)"'


def test_a_set_of_sessions_that_are_there_already_costs_one_update_each(api):
    def cost(count: int) -> int:
        items = distinct("sessions", "", count)
        api.post("/sessions/bulk", {"items": items})
        again = [{**item, "summary": uuid.uuid4().hex, "reason": ""} for item in items]
        with CaptureQueriesContext(connection) as asked:
            results = api.post("/sessions/bulk", {"items": again}).data["results"]
        assert {result["became"] for result in results} == {"updated"}
        return sum(not one["sql"].startswith("UPDATE") for one in asked)

    assert cost(100) - cost(10) <= 25


def test_many_leaves_of_many_payloads_are_all_indexed(api):
    payload = {"p" * 300: {"q": [f"v{number}" for number in range(250)]}}
    items = [{"trigger_payload": payload, "started_at": OWN_TIME} for _ in range(15)]
    assert api.post("/runs/bulk", {"items": items}).data["written"] == 15
    kept = PayloadValue.objects.values_list("run_id").annotate(count=Count("id")).order_by()
    assert [count for _run, count in kept] == [200] * 15

"""What runs can be filtered by: the same for the page, a line of search, an export and the API."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from records.actor import Actor
from runs import filters as run_filters
from runs.actions import record_run
from runs.filters import RunFilterSet
from runs.models import Run
from tests.conftest import make_token

pytestmark = [pytest.mark.django_db, pytest.mark.database]
STARTED = datetime(2026, 3, 15, 12, tzinfo=UTC)


@pytest.fixture
def runs(project):
    def write(name, took=None, **fields):
        ended = None if took is None else STARTED + timedelta(milliseconds=took)
        return record_run(
            actor=Actor.command("test"),
            project=project,
            agent_name=name,
            started_at=STARTED,
            ended_at=ended,
            **fields,
        )

    return [
        write("a", 12_000, token_cost=5, agent_version="1.0", trigger_type="alert",
              trigger_payload={"host": "db-2", "labels": {"zone": "eu", "a=b": "c"}, "tries": 3, "big": True}),
        write("b", 12_999, token_cost=6, agent_version="1.1", escalated_to_human=True,
              trigger_payload={"host": ["db-1", "db-2"], "labels": {"zone": "us"}, "note": "two words"}),
        write("c", 13_000, token_cost=7, status="failed", trigger_payload="plain", trigger_type="Alert"),
        write("d"),
    ]  # fmt: skip


CASES = [
    ("agent=a", "a"), ("agent_version=1.1", "b"), ("trigger=alert", "a"), ("trigger=Alert", "c"), ("status=failed", "c"),
    ("escalated=true", "b"), ("escalated=false", "acd"),
    ("payload=host=db-2", "ab"), ("payload=host=db-1", "b"), ("payload=host=DB-2", ""), ("payload=labels.zone=eu", "a"),
    ("payload=host=db-2&payload=labels.zone=us", "b"), ("payload=host=db-2&payload=tries=4", ""),
    ("payload=tries=3", "a"), ("payload=big=true", "a"), ("payload==plain", "c"), ("payload=labels.a=b=c", "a"),
    ("payload=note=two words", "b"), ("payload=labels=eu", ""), ("payload=host=", ""),
    ("tokens_min=6", "bc"), ("tokens_max=6", "ab"), ("tokens_min=6&tokens_max=6", "b"), ("tokens_min=8", ""),
    ("took_min=13", "c"), ("took_max=12", "ab"), ("took_min=12&took_max=12", "ab"), ("took_min=0", "abc"),
    ("tokens_min=6&payload=host=db-2&took_max=20", "b"),
    ("q=payload:host=db-2 took:>12", ""), ("q=payload:host=db-2 tokens:>5", "b"), ("q=version:1.0", "a"),
    ('q=payload:"note=two words"', "b"), ("q=payload:host=db-2 payload:labels.zone=eu", "a"),
    ("payload=host=db-2&q=payload:labels.zone=eu", "a"),
    ("started_after=2026-03-15&started_before=2026-03-15", "abcd"), ("started_after=2026-03-16", ""),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "found"), CASES)
@pytest.mark.parametrize("few", [2_000, 0])
def test_each_filter_finds(project, runs, asked, found, few, monkeypatch):
    monkeypatch.setattr(run_filters, "FEW", few)  # both ways of looking beside the rows
    for project_id in (project.pk, None):
        rows = RunFilterSet(
            QueryDict(asked), queryset=Run.objects.filter(project=project), project_id=project_id
        )
        assert rows.problems == {}
        assert "".join(sorted(run.agent_name for run in rows.rows())) == found


def test_page_export_and_api_say_the_same(client, viewer_user, project, runs):
    _token, text = make_token(project)
    client.force_login(viewer_user)
    agent = Client(headers={"authorization": f"Bearer {text}"})
    for asked in ("payload=host=db-2", "took_min=12&took_max=12", "q=payload:host=db-2 tokens:<7"):
        names = {run["agent_name"] for run in agent.get(f"/api/v1/runs/?{asked}").json()["results"]}
        exported = client.get(f"{reverse('runs:list', args=['shop'])}?{asked}&format=json").getvalue()
        assert {run["agent_name"] for run in json.loads(exported)} == names == {"a", "b"}
        page = client.get(f"{reverse('runs:list', args=['shop'])}?{asked}")
        assert page.context["count"] == 2


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("payload=host", "payload"), ("payload=" + "x" * 3000 + "=1", "payload"), ("payload=a=%00", "payload"),
        ("&".join(["payload=a=b"] * 21), "payload"), ("tokens_min=-1", "tokens_min"), ("took_min=1.5", "took_min"),
        ("tokens_max=99999999999", "tokens_max"), ("took=3", "took"), ("q=tokens:many", "q"), ("q=payload:host", "payload"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_explained_by_name(client, viewer_user, project, runs, asked, name):
    client.force_login(viewer_user)
    answer = client.get(f"{reverse('runs:list', args=['shop'])}?{asked}")
    assert answer.status_code == 422
    assert name in answer.context["problems"]


def test_the_form_shows_a_box_for_each_pair_and_an_empty_one(client, viewer_user, project, runs):
    client.force_login(viewer_user)
    answer = client.get(f"{reverse('runs:list', args=['shop'])}?payload=host=db-2&payload=a=%22%3E%3Cb")
    page = answer.content.decode()
    assert page.count('name="payload"') == 3
    assert 'value="host=db-2"' in page
    assert 'value="a=&quot;&gt;&lt;b"' in page
    assert [chip.value for chip in answer.context["chips"]] == ["host=db-2", 'a="><b']
    assert "payload=host" not in answer.context["chips"][0].remove_url


def test_counts_name_the_index_of_their_filter(project, django_assert_num_queries):
    assert set(RunFilterSet.indexes.values()) <= {index.name for index in Run._meta.indexes}
    filters = RunFilterSet(
        QueryDict("trigger=alert&agent="), queryset=Run.objects.all(), project_id=project.pk
    )
    with django_assert_num_queries(2) as asked:
        filters.counts()
    assert "/*+ INDEX(agent_runs runs_project_trigger) */" in asked[1]["sql"]

"""Filters on the pages of lists: what cannot be applied is explained; chips, and the count of what is hidden."""

import pytest
from django.http import QueryDict
from django.utils.html import escape

from decisions.actions import change_status, create_decision
from decisions.filters import DecisionFilterSet
from records.verbs import archive, review
from tests.records.samples import LISTS, list_url, make
from work_sessions.filters import SessionFilterSet

pytestmark = [pytest.mark.database, pytest.mark.django_db]
WRONG = [
    *[(kind, {"colour": "red"}) for kind in LISTS],
    *[(kind, {"sort": "colour"}) for kind in LISTS],
    *[(kind, {"show": "some"}) for kind in ("decision", "run")],
    *[(kind, {"review": "maybe"}) for kind in ("decision", "run")],
    *[(kind, {"source": "alien"}) for kind in ("decision", "run")],
    *[(kind, {"cursor": "garbage"}) for kind in ("decision", "run")],
    *[(kind, {"format": "xls"}) for kind in ("decision", "run")],
    *[(kind, {"page_size": "3"}) for kind in ("decision", "run")],
    *[(kind, {"project": "bank"}) for kind in ("decision", "run")],
    *[(kind, {"q": "a\x00b"}) for kind in ("decision", "run")],
    *[(kind, {"tag": "t" * 101}) for kind in ("decision", "run")],
    ("decision", {"status": ["accepted", "nope"]}),
    ("decision", {"decided": "yesterdayish"}), ("decision", {"decided": "2026-02-30"}),
    ("decision", {"decided_after": "0001-01-01"}), ("decision", {"decided_before": "9999-12-31"}),
    ("outcome", {"decision": "dec_1"}), ("outcome", {"decision": "0"}), ("outcome", {"decision": str(2**31)}),
    ("pattern", {"confidence_min": "2"}), ("pattern", {"confidence_max": "nan"}), ("pattern", {"usage_min": "-1"}),
    ("pattern", {"usage_min": "0.5"}), ("outcome", {"decision": "1.5"}), ("pitfall", {"met_min": "1e1"}),
    ("pattern", {"usage_min": str(10**30)}), ("pitfall", {"met_min": "often"}), ("pitfall", {"severity": "dire"}),
    ("session", {"open": "banana"}), ("run", {"escalated": "2"}), ("run", {"status": "done"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "query"), WRONG)
def test_a_filter_that_cannot_be_applied_is_explained(client, curator_user, agent, project, kind, query):
    make(kind, agent, project, "Not to be seen")
    client.force_login(curator_user)
    answer = client.get(list_url(kind), query, headers={"HX-Request": "true"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'role="alert"' in page
    assert f"<b>{next(iter(query))}</b>" in page
    if "format" not in query and "page_size" not in query and "project" not in query:
        assert "Not to be seen" not in page


def test_hostile_names_and_values_of_filters_are_escaped(client, curator_user, agent, project):
    make("decision", agent, project)
    client.force_login(curator_user)
    for query in (
        {"<script>alert(1)</script>": "x"}, {"q": "<script>alert(1)</script>"}, {"tag": '"><script>alert(1)</script>'},
        {"sort": "<script>alert(1)</script>"}, {"format": "<script>alert(1)</script>"}, {"q": "%_\\' OR 1=1 --"},
        {"by": "‮<script>alert(1)</script>"}, {"q": " ".join("abcdefgh" * 12)}, {"q": "x" * 201}, {"cursor": "<script>"},
    ):  # fmt: skip
        answer = client.get(list_url("decision"), query)
        assert answer.status_code in (200, 422), query
        assert "<script>alert" not in answer.content.decode()


def test_each_filter_in_force_is_a_chip_with_the_way_out(client, curator_user, agent, project):
    make("decision", agent, project, tags=["redis"])
    client.force_login(curator_user)
    page = client.get(
        list_url("decision") + "?status=accepted&status=pending&tag=redis&sort=oldest"
    ).content.decode()
    for address, label, value in (
        ("?status=pending&tag=redis&sort=oldest", "Status", "accepted"),
        ("?status=accepted&tag=redis&sort=oldest", "Status", "pending"),
        ("?status=accepted&status=pending&sort=oldest", "Tag", "redis"),
    ):
        assert f'href="{escape(list_url("decision") + address)}"' in page
        assert f"<span>{label} <b>{value}</b></span>" in page
    assert "show" not in [chip.label for chip in DecisionFilterSet(QueryDict("show=active")).chips("/")]


def test_a_chip_forgets_the_page_and_names_yes_and_no(project):
    filters = SessionFilterSet(
        QueryDict("open=true&cursor=abc"), queryset=SessionFilterSet._meta.model.objects.all()
    )
    assert filters.chips("/s/") == [("Still open", "yes", "/s/")]


def test_the_hidden_count_is_of_these_very_filters(client, curator_user, agent, curator, project):
    redis, other = make("decision", agent, project, tags=["redis"]), make("decision", agent, project, "Other")
    archive([redis, other], actor=curator)
    change_status(actor=curator, decisions=[other], status="rejected", reason="x")
    client.force_login(curator_user)
    assert "2 hidden" in client.get(list_url("decision")).content.decode()
    assert "1 hidden" in client.get(list_url("decision"), {"tag": "redis"}).content.decode()
    page = client.get(list_url("decision"), {"tag": "none"}).content.decode()
    assert " hidden</a>" not in page
    assert "Nothing matches these filters" in page
    assert " hidden</a>" not in client.get(list_url("decision"), {"show": "all"}).content.decode()


def test_a_rejected_memory_asked_for_by_its_state_is_shown(as_curator, agent, curator, project):
    rejected, archived = (
        create_decision(actor=agent, project=project, title=title, decision="x")
        for title in ("Wrong", "Old and wrong")
    )
    review([rejected, archived], "rejected", actor=curator, reason="wrong")
    archive([archived], actor=curator)
    answer = as_curator.get("/p/shop/decisions/", {"review": "rejected"})
    assert "Wrong" in answer.content.decode()
    assert "Old and wrong" not in answer.content.decode()
    assert answer.context["hidden_count"] == 1

"""The decision pages: list, detail, create, edit, verbs; for each member of the cast."""

import pytest
from django.urls import reverse

from decisions.actions import contradict, create_decision, edit_decision, record_outcome
from decisions.models import Decision
from records.links import link
from records.models import Link, ProjectionMark, Revision
from records.verbs import review

pytestmark = pytest.mark.django_db


@pytest.fixture
def decision(agent, project):
    return create_decision(
        actor=agent, project=project, title="Cache totals in Redis", decision="Serve **totals** from Redis.",
        rationale="p95 was 480 ms.", tags=["redis", "latency"],
    )  # fmt: skip


def url(name, *args):
    return reverse(f"decisions:{name}", args=["shop", *args])


def test_the_list_shows_rows_filters_and_a_count(as_curator, decision):
    page = as_curator.get(url("list")).content.decode()
    assert "Cache totals in Redis" in page
    assert "1 decision<" in page
    assert "Cache totals" not in as_curator.get(url("list"), {"status": "rejected"}).content.decode()
    assert (
        "Cache totals"
        in as_curator.get(url("list"), {"tag": "redis", "review": "unreviewed"}).content.decode()
    )


def test_a_wrong_filter_is_explained_not_ignored(as_curator, decision):
    for query in (
        {"status": "maybe"},
        {"colour": "red"},
        {"decided": "yesterdayish"},
        {"cursor": "!!"},
        {"sort": "x"},
    ):
        answer = as_curator.get(url("list"), query)
        assert answer.status_code == 422
        assert 'role="alert"' in answer.content.decode()


def test_htmx_gets_the_region_alone(as_curator, decision):
    answer = as_curator.get(url("list"), headers={"HX-Request": "true"})
    assert "<html" not in answer.content.decode()
    assert "HX-Request" in answer["Vary"]


def test_csv_and_json_hold_the_same_filter(as_curator, decision, project, agent):
    create_decision(actor=agent, project=project, title="=cmd()", decision="x", status="rejected")
    rows = b"".join(
        as_curator.get(url("list"), {"format": "csv", "status": "rejected"}).streaming_content
    ).decode()
    assert "'=cmd()" in rows
    assert "Redis" not in rows
    import json

    answer = as_curator.get(url("list"), {"format": "json"})
    titles = [row["title"] for row in json.loads(b"".join(answer.streaming_content))]
    assert titles == ["=cmd()", "Cache totals in Redis"]


def test_keyset_pages_walk_the_whole_list_both_ways(as_curator, agent, project):
    for number in range(120):
        create_decision(actor=agent, project=project, title=f"No {number:03}", decision="x")
    seen, address = [], url("list")
    import re

    while address:
        page = as_curator.get(address).content.decode()
        seen += re.findall(r"No \d{3}", re.sub(r"Select No \d{3}", "", page))
        following = re.search(r'rel="next" href="([^"]+)"', page)
        address = following[1].replace("&amp;", "&") if following else None
    assert seen == [f"No {number:03}" for number in reversed(range(120))]


def test_the_detail_shows_text_history_and_what_contradicts_it(as_curator, decision, agent, curator, project):
    other = create_decision(actor=curator, project=project, title="Never cache money", decision="No.")
    contradict(actor=agent, decision=decision, other=other, reason="money")
    record_outcome(actor=curator, decision=decision, type="outage", success_rate=0.2, note="3 June")
    edit_decision(
        actor=curator, decision=decision, changes={"rationale": "p95 was 510 ms."}, reason="measured again"
    )
    page = as_curator.get(url("detail", decision.pk)).content.decode()
    for text in (
        "<strong>totals</strong>",
        "Never cache money",
        "outage 0.20",
        "measured again",
        "<del",
        "510",
        "ses-8841",
    ):
        assert text in page, text


def test_create_edit_and_the_whole_way_of_a_conflict(as_curator, project, curator):
    page = as_curator.post(
        url("create"),
        {
            "title": "Use MySQL",
            "decision": "Yes",
            "status": "accepted",
            "decided_on": "2026-03-15",
            "tags": "db, sql",
        },
    )
    made = Decision.objects.get()
    assert (page.status_code, page["Location"]) == (303, url("detail", made.pk))
    assert (made.review_state, made.tags, made.decided_precision) == ("approved", ["db", "sql"], "day")
    edit_decision(actor=curator, decision=made, changes={"title": "Use MariaDB"})
    answer = as_curator.post(
        url("edit", made.pk),
        {
            "title": "Use MySQL 9",
            "decision": "Yes",
            "status": "accepted",
            "decided_on": "2026-03-15",
            "version": "1",
        },
    )
    assert answer.status_code == 409
    text = answer.content.decode()
    assert "Use MariaDB" in text
    assert "Use MySQL 9" in text
    assert 'name="version" value="2"' in text
    assert Decision.objects.get().title == "Use MariaDB"
    answer = as_curator.post(
        url("edit", made.pk),
        {
            "title": "Use MySQL 9",
            "decision": "Yes",
            "status": "accepted",
            "decided_on": "2026-03-15",
            "version": "2",
            "tags": "db, sql",
        },
    )
    assert answer.status_code == 303
    saved = Decision.objects.get()
    assert (saved.title, saved.version, saved.decided_at) == ("Use MySQL 9", 3, made.decided_at)


def test_an_invalid_form_is_422_with_its_errors_beside_the_fields(as_curator, project):
    answer = as_curator.post(url("create"), {"title": "", "decision": "x\x00", "status": "accepted"})
    assert answer.status_code == 422
    assert not Decision.objects.exists()
    assert answer.content.decode().count("errorlist") >= 2


def test_approve_and_reject_by_button_and_by_form(as_curator, decision):
    review_url = reverse("records:review", args=["shop", decision.node_id])
    assert as_curator.get(review_url).status_code == 200
    assert as_curator.post(review_url, {"state": "approved", "version": "1"}).status_code == 303
    assert Decision.objects.get().review_state == "approved"
    assert as_curator.post(review_url, {"state": "rejected", "version": "2"}).status_code == 422
    assert (
        as_curator.post(review_url, {"state": "rejected", "version": "1", "reason": "x"}).status_code == 409
    )
    assert (
        as_curator.post(review_url, {"state": "rejected", "version": "2", "reason": "x"}).status_code == 303
    )
    assert "Cache totals" not in as_curator.get(url("list")).content.decode()
    assert "Cache totals" in as_curator.get(url("list"), {"show": "hidden"}).content.decode()
    assert list(Revision.objects.order_by("id").values_list("verb", flat=True)) == [
        "create",
        "approve",
        "reject",
    ]
    assert ProjectionMark.objects.get().wanted_version == 3


def test_status_supersede_contradict_outcome_archive_link_unlink(as_curator, decision, curator, project):
    new = create_decision(actor=curator, project=project, title="Use Valkey", decision="Yes")
    posts = [
        (url("status", decision.pk), {"status": "pending", "reason": "waiting"}),
        (url("contradict", decision.pk), {"other": new.node_id, "reason": "both"}),
        (url("supersede", decision.pk), {"by": new.node_id, "reason": "licence"}),
        (
            url("record_outcome", decision.pk),
            {"type": "success", "success_rate": "0.97", "occurred_at": "2026-06-03T10:00"},
        ),
        (
            reverse("records:link", args=["shop", decision.node_id]),
            {"relation": "RELATES_TO", "target": new.node_id},
        ),
        (reverse("records:archive", args=["shop", decision.node_id]), {"reason": "old"}),
        (reverse("records:restore", args=["shop", decision.node_id]), {}),
    ]
    for address, data in posts:
        assert as_curator.get(address).status_code == 200, address
        answer = as_curator.post(address, data)
        assert answer.status_code == 303, (address, answer.content.decode()[-3000:])
    kept = Decision.objects.get(pk=decision.pk)
    assert (kept.status, kept.archived_at, kept.outcomes.count()) == ("superseded", None, 1)
    assert Link.objects.count() == 3
    link = Link.objects.get(relation="RELATES_TO")
    assert (
        as_curator.post(reverse("records:unlink", args=["shop", decision.node_id, link.pk])).status_code
        == 303
    )
    assert Link.objects.count() == 2
    for bad in ("dec_999", "nonsense", decision.node_id, "out_1"):
        assert as_curator.post(url("supersede", new.pk), {"by": bad}).status_code == 422


@pytest.mark.parametrize(
    "name", ["list", "detail", "edit", "status", "supersede", "contradict", "record_outcome"]
)
def test_a_stranger_sees_404_and_a_viewer_may_only_read(client, decision, stranger_user, viewer_user, name):
    address = url(name) if name == "list" else url(name, decision.pk)
    client.force_login(stranger_user)
    assert client.get(address).status_code == 404
    client.force_login(viewer_user)
    assert client.get(address).status_code == (200 if name in ("list", "detail") else 403)


def test_query_counts_do_not_grow_with_rows(
    as_curator, agent, curator, project, django_assert_max_num_queries
):
    def fill(count):
        made = [
            create_decision(actor=agent, project=project, title=f"No {n}", decision="x", tags=["a"])
            for n in range(count)
        ]
        review(made[: count // 2], "approved", actor=curator)
        return made

    made = fill(3)
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = {}
    for address in (url("list"), url("detail", made[0].pk)):
        as_curator.get(address)
        with CaptureQueriesContext(
            connection,
        ) as few:
            as_curator.get(address)
        counts[address] = len(few)
    more = fill(40)
    for other in more[:20]:
        contradict(actor=agent, decision=made[0], other=other)
        record_outcome(actor=agent, decision=made[0], type="success")
    for address, few in counts.items():
        as_curator.get(address)
        with CaptureQueriesContext(connection) as many:
            as_curator.get(address)
        assert len(many) <= few + 1, [query["sql"][:120] for query in many]


def test_a_page_shows_the_first_of_many_links_and_outcomes(
    as_curator, decision, agent, curator, project, monkeypatch
):
    monkeypatch.setattr("records.pages.detail.LINKS_SHOWN", 2)
    monkeypatch.setattr("decisions.views.OUTCOMES_SHOWN", 2)
    others = [
        create_decision(actor=agent, project=project, title=f"Other {n}", decision="x") for n in range(4)
    ]
    for other in others[:3]:
        link(decision, "RELATES_TO", other, actor=curator)
    contradict(actor=curator, decision=decision, other=others[3], reason="They differ.")
    for n in range(3):
        record_outcome(actor=agent, decision=decision, type="success", note=f"Number {n}")
    page = as_curator.get(url("detail", decision.pk)).context
    assert [row.relation_key for row in page["links"]] == ["CONTRADICTS", "RELATES_TO"]
    assert len(page["outcomes"]) == 2
    text = as_curator.get(url("detail", decision.pk)).content.decode()
    assert "the first 2 are shown" in text
    assert f"{url('outcomes')}?decision={decision.pk}" in text

"""The history page: who, through which door, why, what; filters that an index answers; an act in one entry; downloads."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from curation.history import queries
from curation.history.filters import HistoryFilters
from decisions.actions import change_status, create_decision, edit_decision
from records import verbs
from records.actor import Actor
from records.acts import one_act
from records.guard import writing
from records.links import link
from records.models import Relation, Revision
from tests.conftest import make_token
from tests.records.samples import KINDS, make

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
ADDRESS = "/p/shop/history/"


def entries(client, **filters):
    answer = client.get(ADDRESS, filters)
    assert answer.status_code == 200, answer.context["problems"]
    return answer.context["entries"]


def told(text):
    return re.sub(r'<span class="visually-hidden">(removed|added): </span>', "", text)


def test_it_says_who_through_which_door_why_and_what(as_viewer, agent, curator, project):
    decision = make("decision", agent, project, "Use Redis here")
    edit_decision(
        actor=curator, decision=decision, changes={"title": "Use Valkey here"}, reason="<b>renamed</b>"
    )
    page = told(as_viewer.get(ADDRESS).content.decode())
    for text in (
        "by <b>cleo</b> through web", "by <b>order-bot</b> through API", "&lt;b&gt;renamed&lt;/b&gt;",
        "<del>Redis</del><ins>Valkey</ins>", "ses-8841", "version 2", decision.node_id, "2 changes",
    ):  # fmt: skip
        assert text in page, text
    assert page.index("cleo") < page.index("order-bot")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_told(as_viewer, agent, project, kind):
    record = make(kind, agent, project, "The one")
    assert any(entry.node_id == record.node_id for entry in entries(as_viewer))
    assert all(entry.kind == kind for entry in entries(as_viewer, kind=kind))


@pytest.fixture
def mixed(agent, curator, project):
    """Made by an agent, edited and rejected by a person; another made by another agent in a run."""
    decision = make("decision", agent, project, "One")
    edit_decision(actor=curator, decision=decision, changes={"title": "Uno"}, reason="")
    verbs.review([decision], "rejected", actor=curator, reason="wrong")
    token, _text = make_token(project, agent_name="dba")
    other = make("pitfall", Actor.agent(token, run="run_" + "a" * 32, session="ses-2"), project, "Two")
    return decision, other, token


@pytest.mark.parametrize(
    ("filters", "verbs_found"),
    [
        ({"person": "cleo"}, ["rejected", "edited"]),
        ({"agent": "order-bot"}, ["created"]),
        ({"agent": "cleo"}, []),
        ({"person": "order-bot"}, []),
        ({"agent": "dba"}, ["created"]),
        ({"door": "web"}, ["rejected", "edited"]),
        ({"door": ["web", "api"], "verb": ["reject", "create"], "kind": "decision"}, ["rejected", "created"]),
        ({"verb": "edit"}, ["edited"]),
        ({"kind": "pitfall"}, ["created"]),
        ({"session": "ses-2"}, ["created"]),
        ({"session": "ses-8841", "verb": "edit"}, []),
        ({"run": "run_" + "a" * 32}, ["created"]),
        ({"when": "today"}, ["created", "rejected", "edited", "created"]),
        ({"when": "last year"}, []),
        ({"when": ">2020-01-01", "person": "cleo"}, ["rejected", "edited"]),
    ],
)
def test_each_filter_finds_its_own(as_viewer, mixed, filters, verbs_found):
    assert [entry.verb for entry in entries(as_viewer, **filters)] == verbs_found


def test_by_record_token_and_act(as_viewer, mixed):
    decision, other, token = mixed
    assert len(entries(as_viewer, record=decision.node_id)) == 3
    assert [entry.node_id for entry in entries(as_viewer, token=token.pk)] == [other.node_id]
    act = Revision.objects.filter(verb="reject").get().act
    assert [entry.verb for entry in entries(as_viewer, act=act)] == ["rejected"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("record", "dec_"), ("record", "x' OR 1=1"), ("act", "zz"), ("act", "A" * 32), ("when", "someday"),
        ("when", "9999999-01-01"), ("when", "2026-02-30"), ("token", "x"), ("token", "0"), ("token", "9" * 30),
        ("door", "window"), ("verb", "sing"), ("kind", "car"), ("colour", "red"), ("before", "x"), ("before", "-1"),
        ("before", "9" * 40), ("format", "xml"), ("person", "\x00"), ("session", "s" * 300),
    ],
)  # fmt: skip
def test_a_filter_that_cannot_be_applied_is_explained(as_viewer, mixed, name, value):
    answer = as_viewer.get(ADDRESS, {name: value})
    assert answer.status_code == 422
    assert name in answer.context["problems"]
    assert answer.context["entries"] == []


@pytest.mark.parametrize("text", ["%", "_", "'; DROP TABLE revisions", "١٢٣", "🦊", "a" * 255])
def test_odd_names_find_nothing_and_break_nothing(as_viewer, mixed, text):
    for name in ("person", "agent", "session", "run"):
        assert entries(as_viewer, **{name: text}) == []


def test_another_projects_history_is_not_told(as_viewer, client, agent, project, other_project, mixed):
    decision, _other, _token = mixed
    revision = Revision.objects.filter(node_id=decision.node_id).first()
    with writing():
        Revision.objects.filter(pk=revision.pk).update(project=other_project)
    assert all(entry.pk != revision.pk for entry in entries(as_viewer))
    assert as_viewer.get(f"{ADDRESS}{revision.pk}/").status_code == 404
    assert as_viewer.get("/p/bank/history/").status_code == 404


def many(project, agent, number=5):
    return [
        create_decision(actor=agent, project=project, title=f"No {n}", decision="D") for n in range(number)
    ]


def test_an_act_of_many_records_is_one_entry_with_its_rows(as_viewer, agent, curator, project):
    decisions = many(project, agent, 7)
    verbs.review(decisions, "approved", actor=curator, reason="seen")
    first, *others = entries(as_viewer)
    assert first.verb == "approved 7 records"
    assert first.rows_url == f"{ADDRESS}?act={first.act}"
    assert [entry.verb for entry in others] == ["created"] * 7
    page = as_viewer.get(first.rows_url)
    assert [entry.verb for entry in page.context["entries"]] == ["approved"] * 7
    assert "One act, 7 changes." in page.content.decode()


def test_an_act_of_several_verbs_says_each(as_viewer, agent, curator, project):
    one, two = many(project, agent, 2)
    with one_act():
        verbs.review([one, two], "approved", actor=curator)
        verbs.archive([one], actor=curator)
    assert entries(as_viewer)[0].verb == "approved 2 records, archived 1 record"


def test_a_link_is_said_once_with_both_ends(as_viewer, agent, project):
    one, two = many(project, agent, 2)
    link(one, Relation.CONTRADICTS, two, actor=agent)
    first, *others = entries(as_viewer)
    assert first.verb == f"linked: {one.node_id} contradicts {two.node_id}"
    assert not first.is_folded
    assert len(others) == 2


def test_a_review_is_said_by_its_verb_alone(as_viewer, agent, curator, project):
    (one,) = many(project, agent, 1)
    verbs.review([one], "approved", actor=curator)
    assert entries(as_viewer)[0].diffs == []


def test_an_act_is_undone_from_its_page(client, agent, curator, curator_user, project):
    client.force_login(curator_user)
    decisions = many(project, agent, 3)
    verbs.review(decisions, "approved", actor=curator)
    act = Revision.objects.latest("pk").act
    page = client.get(ADDRESS, {"act": act}).content.decode()
    address = f"/p/shop/acts/{act}/undo/"
    assert address in page
    assert client.post(address, {"next": f"{ADDRESS}?act={act}"}).status_code == 303
    assert entries(client)[0].verb == "undid: approved 3 records"
    assert {type(one).objects.get(pk=one.pk).review_state for one in decisions} == {"unreviewed"}


def test_an_undo_that_takes_the_whole_page_gets_it(as_viewer, agent, project):
    make("decision", agent, project)
    headers = {"HX-Request": "true", "HX-Target": "main"}
    assert "<html" in as_viewer.get(ADDRESS, headers=headers).content.decode()
    headers["HX-Target"] = "changes"
    assert "<html" not in as_viewer.get(ADDRESS, headers=headers).content.decode()


def test_pages_tell_each_act_once_however_large(as_viewer, agent, curator, project, monkeypatch):
    monkeypatch.setattr(queries, "PAGE", 3)
    monkeypatch.setattr(queries, "CHUNK", 4)
    decisions = many(project, agent, 9)
    verbs.review(decisions, "approved", actor=curator)
    with one_act():  # its rows lie before and behind those of another
        change_status(actor=curator, decisions=decisions[:2], status="pending", reason="x")
        rows = list(Revision.objects.order_by("-pk").values_list("pk", flat=True)[:2])
    with writing():
        Revision.objects.filter(pk=min(rows)).update(act=Revision.objects.get(pk=max(rows)).act)
    told_acts, address = [], ADDRESS
    while address:
        answer = as_viewer.get(address)
        told_acts += [entry.act for entry in answer.context["entries"]]
        address = answer.context["older_url"]
    acts = list(Revision.objects.order_by("-pk").values_list("act", flat=True))
    assert told_acts == list(dict.fromkeys(acts))


def test_queries_do_not_grow_with_rows(as_viewer, agent, curator, project):
    def asked():
        as_viewer.get(ADDRESS)
        with CaptureQueriesContext(connection) as captured:
            as_viewer.get(ADDRESS)
        return len(captured)

    verbs.review(many(project, agent, 3), "approved", actor=curator)
    few = asked()
    verbs.review(many(project, agent, 30), "approved", actor=curator)
    for decision in many(project, agent, 20):
        edit_decision(actor=curator, decision=decision, changes={"title": "Other"})
    assert asked() == few


def test_long_texts_are_compared_on_the_changes_own_page(as_viewer, agent, curator, project):
    decision = make("decision", agent, project, decision="alpha beta\n" * 3000)
    edit_decision(actor=curator, decision=decision, changes={"decision": "alpha gamma\n" * 3000})
    entry = entries(as_viewer)[0]
    assert (entry.is_long, entry.diffs) == (True, [])
    page = as_viewer.get(entry.url)
    assert "gamma" in page.content.decode()
    part = as_viewer.get(entry.url, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "gamma" in part


def test_downloads_hold_the_same_changes(as_viewer, mixed):
    answer = as_viewer.get(ADDRESS, {"format": "csv", "person": "cleo"})
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert [(row["verb"], row["by"], row["door"]) for row in rows] == [
        ("reject", "cleo", "web"),
        ("edit", "cleo", "web"),
    ]
    answer = as_viewer.get(ADDRESS, {"format": "json"})
    lines = json.loads(b"".join(answer.streaming_content))
    assert [line["verb"] for line in lines] == ["create", "reject", "edit", "create"]
    assert lines[2]["changes"]["title"] == {"before": "One", "after": "Uno"}
    assert "attachment" in answer["Content-Disposition"]


def test_a_download_is_no_formula(as_viewer, agent, project):
    make("decision", Actor.agent(agent.token, session="=cmd|'/c calc'!A1"), project)
    answer = as_viewer.get(ADDRESS, {"format": "csv"})
    assert b"'=cmd" in b"".join(answer.streaming_content)


def test_a_download_reads_page_by_page(as_viewer, agent, project, monkeypatch):
    monkeypatch.setattr(queries, "EXPORTED_A_QUERY", 3)
    many(project, agent, 7)
    lines = json.loads(b"".join(as_viewer.get(ADDRESS, {"format": "json"}).streaming_content))
    ids = [line["id"] for line in lines]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == 7


def test_a_record_that_is_gone_keeps_its_name(as_viewer, agent, project):
    decision = make("decision", agent, project)
    with writing():
        type(decision).objects.filter(pk=decision.pk).delete()
    (entry,) = entries(as_viewer)
    assert (entry.node_id, entry.title, entry.record_url) == (decision.node_id, "", "")
    assert as_viewer.get(entry.url).status_code == 200


@pytest.mark.django_db(transaction=True)  # ANALYZE TABLE commits
@pytest.mark.skipif("connection.vendor != 'mysql'")
def test_any_mix_of_filters_is_answered_within_an_index(agent, project, other_project):
    """Without a look at a row, and without sorting: the plan of the statement that finds a page. A rare verb has an index
    of its own, whose few rows are sorted."""
    filled(agent, project, other_project)
    rare = plan_of(HistoryFilters(query({"verb": "purge"}), project_id=project.pk).rows())
    assert rare["key"] in ("revisions_filters", "revisions_verb"), rare
    for asked in (
        {}, {"door": "sql"}, {"agent": "dba"}, {"kind": "run", "person": "ada", "verb": "edit"},
        {"token": "1"}, {"when": "2026-01-02"}, {"when": "2026-01-02", "verb": "edit"},
    ):  # fmt: skip
        plan = plan_of(HistoryFilters(query(asked), project_id=project.pk).rows())
        assert plan["key"] in ("revisions_filters", "PRIMARY", "revisions_time"), (asked, plan)
        assert "filesort" not in plan["extra"], (asked, plan)
        if "when" not in asked:
            assert plan["key"] == "revisions_filters", (asked, plan)
            assert "Using index" in plan["extra"], (asked, plan)
    for asked, key in (
        ({"session": "ses-7", "verb": "edit"}, "revisions_session"),
        ({"run": "run-7"}, "revisions_run"),
        ({"act": f"{7:032x}"}, "revisions_act"),
        ({"record": "dec_7"}, "revisions_node"),
    ):
        plan = plan_of(HistoryFilters(query(asked), project_id=project.pk).rows())
        assert plan["key"].startswith(key), (asked, plan)


def query(asked):
    from django.http import QueryDict

    data = QueryDict(mutable=True)
    data.update(asked)
    return data


def plan_of(rows):
    sql, values = rows.order_by("-pk").values_list("pk", "act")[:160].query.sql_with_params()
    with connection.cursor() as cursor:
        if not connection.mysql_is_mariadb:
            cursor.execute("SET explain_format = 'TRADITIONAL'")
        cursor.execute(f"EXPLAIN {sql}", values)
        names = [column[0] for column in cursor.description]
        row = dict(zip(names, cursor.fetchone(), strict=True))
    return {"key": row["key"] or "", "extra": row["Extra"] or ""}


def filled(agent, *projects, number=4000):
    began = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [
        Revision(
            project=projects[n % 5 == 0], node_id=f"dec_{n % 900}", kind="run" if n % 50 == 0 else "decision",
            verb="purge" if n % 999 == 0 else "edit", channel="sql" if n % 700 == 0 else "api", token=agent.token,
            actor_name="dba" if n % 400 == 0 else "order-bot", session=f"ses-{n // 40}", run=f"run-{n // 40}",
            act=f"{n:032x}", created_at=began + timedelta(minutes=30 * n), after={"title": "x" * 400},
        )
        for n in range(number)
    ]  # fmt: skip
    with writing():
        Revision.objects.bulk_create(rows, batch_size=500)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE TABLE revisions")
        cursor.fetchall()

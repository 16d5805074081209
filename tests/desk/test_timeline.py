"""The time line: everything by time, days as the reader's zone has them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from decisions.actions import create_decision, record_outcome
from decisions.models import Decision, Outcome, Precision
from desk.timeline.queries import encode, events_page
from desk.timeline.sources import SOURCES, Place, Wanted
from patterns.actions import adjust_confidence, create_pattern, record_evidence
from patterns.models import Pattern
from pitfalls.actions import create_pitfall, meet_again
from projects.models import User
from records.actor import Actor
from records.guard import writing
from records.verbs import archive, review
from runs.actions import record_run
from runs.models import Run
from work_sessions.actions import start_session

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]

HOSTILE = "Use <script>alert(1)</script> Redis"


@pytest.fixture
def page(client, viewer_user, project):
    client.force_login(viewer_user)

    def get(zone=None, headers=None, **asked):
        if zone is not None:
            User.objects.filter(pk=viewer_user.pk).update(time_zone=zone)
        return client.get(reverse("timeline:page", args=["shop"]), asked, headers=headers or {})

    return get


def text_of(answer) -> str:
    assert answer.status_code == 200, answer.content.decode()[:2000]
    return unescape(answer.content.decode())


def days_of(answer) -> dict[str, list[str]]:
    """ISO day -> the titles under it, in order."""
    found = {}
    for day, inside in re.findall(r'<section class="day" aria-labelledby="day-([\d-]+)">(.*?)</section>', text_of(answer), re.DOTALL):  # fmt: skip
        found[day] = re.findall(r'<a class="link" href="[^"]*">(.*?)</a>', inside)
    return found


def decide(agent, project, title, when, precision=Precision.INSTANT):
    return create_decision(
        actor=agent, project=project, title=title, decision="D", decided_at=when, decided_precision=precision
    )


@pytest.fixture
def week(agent, curator, project):
    """Of each sort one."""
    session = start_session(actor=agent, project=project, session_id="ses-8841")
    decision = decide(agent, project, HOSTILE, datetime(2026, 3, 15, 12, tzinfo=UTC))
    outcome = record_outcome(
        actor=agent, decision=decision, type="outage", occurred_at=datetime(2026, 3, 16, 9, tzinfo=UTC)
    )
    run = record_run(
        actor=agent, project=project, agent_name="dba", trigger_type="alert",
        trigger_payload={"alert": "lag"}, started_at=datetime(2026, 3, 16, 10, tzinfo=UTC), status="succeeded",
    )  # fmt: skip
    pitfall = create_pitfall(actor=agent, project=project, category="c", title="Stampede")
    meet_again(actor=agent, pitfall=pitfall, note="At noon.")
    pattern = create_pattern(actor=agent, project=project, category="c", name="Cache-aside")
    record_evidence(actor=agent, pattern=pattern, worked=True)
    adjust_confidence(
        actor=curator, pattern=Pattern.objects.get(pk=pattern.pk), confidence=0.9, reason="Seen often."
    )
    review([decision], "approved", actor=curator, reason="Right.")
    return {"session": session, "decision": decision, "outcome": outcome, "run": run, "pitfall": pitfall, "pattern": pattern}  # fmt: skip


def test_everything_stands_under_its_day_newest_first(page, week):
    days = days_of(page())
    today = timezone.localdate().isoformat()
    assert list(days) == [today, "2026-03-16", "2026-03-15"]
    assert days["2026-03-16"] == ["alert · lag", "outage: Use <script>alert(1)</script> Redis"]
    assert len(days[today]) == 5  # approved, adjusted, worked, met again, session began
    text = page().content.decode()
    for said in ("decided", "followed", "ran", "session began", "met it again", "said it worked", "approved", "(confidence 0.", "Seen often.", "by order-bot", "by cleo"):  # fmt: skip
        assert said in text, said
    assert "<script>alert" not in text


@pytest.mark.parametrize(
    ("what", "titles"),
    [
        ("decision", [HOSTILE]),
        ("outcome", [f"outage: {HOSTILE}"]),
        ("run", ["alert · lag"]),
        ("session", ["ses-8841"]),
        ("met", ["Stampede"]),
        ("confidence", ["Cache-aside", "Cache-aside"]),
        ("review", [HOSTILE]),
    ],
)
def test_of_each_sort_alone(page, week, what, titles):
    assert [title for day in days_of(page(what=what)).values() for title in day] == titles


def test_by_whom_of_a_record_and_of_a_session(page, week):
    def titles(**asked):
        return sorted(title for day in days_of(page(**asked)).values() for title in day)

    assert titles(by="cleo") == sorted(["Cache-aside", HOSTILE])
    assert titles(by="dba") == ["alert · lag"]
    assert titles(by="nobody") == []
    assert titles(record=week["decision"].node_id) == sorted([HOSTILE, HOSTILE, f"outage: {HOSTILE}"])
    assert titles(record=week["run"].node_id) == ["alert · lag"]
    assert titles(record="dec_999999") == []
    assert titles(session="ses-8841") == sorted(
        ["ses-8841", HOSTILE, f"outage: {HOSTILE}", "alert · lag", "Stampede", "Cache-aside"]
    )
    assert titles(session="ses-1") == []
    assert titles(record=week["pattern"].node_id, what="confidence", by="cleo") == ["Cache-aside"]


def test_what_is_hidden_is_not_told_as_an_event_but_its_review_is(page, week, curator):
    review([Decision.objects.get(pk=week["decision"].pk)], "rejected", actor=curator, reason="Wrong.")
    archive([Run.objects.get(pk=week["run"].pk)], actor=curator)
    assert days_of(page(what="decision")) == {}
    assert days_of(page(what="run")) == {}
    assert "rejected" in text_of(page(what="review"))


# A day as the person who asks has it: (zone, an instant in UTC, the day under which it stands).
INSTANTS = [
    ("UTC", "2026-03-15T00:00:00", "2026-03-15"),
    ("UTC", "2026-03-15T23:59:59.999999", "2026-03-15"),
    ("America/Sao_Paulo", "2026-03-15T02:59:59", "2026-03-14"),
    ("America/Sao_Paulo", "2026-03-15T03:00:00", "2026-03-15"),
    ("America/Sao_Paulo", "2026-03-16T02:59:59", "2026-03-15"),
    ("America/Sao_Paulo", "2026-03-16T03:00:00", "2026-03-16"),
    ("Asia/Kolkata", "2026-03-14T18:29:59", "2026-03-14"),
    ("Asia/Kolkata", "2026-03-14T18:30:00", "2026-03-15"),
    ("Asia/Kolkata", "2026-03-15T18:29:59", "2026-03-15"),
    ("Asia/Kolkata", "2026-03-15T18:30:00", "2026-03-16"),
    ("Pacific/Kiritimati", "2026-03-14T10:00:00", "2026-03-15"),
    ("Pacific/Pago_Pago", "2026-03-16T10:59:59", "2026-03-15"),
    # The clocks go forward: a day of 23 hours; back: of 25; at midnight itself: the day begins at one o'clock.
    ("Europe/Berlin", "2026-03-28T22:59:59", "2026-03-28"),
    ("Europe/Berlin", "2026-03-28T23:00:00", "2026-03-29"),
    ("Europe/Berlin", "2026-03-29T21:59:59", "2026-03-29"),
    ("Europe/Berlin", "2026-03-29T22:00:00", "2026-03-30"),
    ("Europe/Berlin", "2026-10-24T22:00:00", "2026-10-25"),
    ("Europe/Berlin", "2026-10-25T22:59:59", "2026-10-25"),
    ("Europe/Berlin", "2026-10-25T23:00:00", "2026-10-26"),
    ("America/Sao_Paulo", "2018-11-04T02:59:59", "2018-11-03"),
    ("America/Sao_Paulo", "2018-11-04T03:00:00", "2018-11-04"),
    ("America/Havana", "2026-03-08T04:59:59", "2026-03-07"),
    ("America/Havana", "2026-03-08T05:00:00", "2026-03-08"),
]


@pytest.mark.parametrize(("zone", "instant", "day"), INSTANTS)
def test_an_instant_stands_under_the_readers_day_and_is_found_by_it(page, agent, project, zone, instant, day):
    when = datetime.fromisoformat(instant).replace(tzinfo=UTC)
    decide(agent, project, "Then", when)
    assert days_of(page(zone, what="decision")) == {day: ["Then"]}
    assert days_of(page(what="decision", when=day)) == {day: ["Then"]}
    for other in (date.fromisoformat(day) - timedelta(days=1), date.fromisoformat(day) + timedelta(days=1)):
        assert days_of(page(what="decision", when=other.isoformat())) == {}


@pytest.mark.parametrize("zone", ["UTC", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Kiritimati", "Pacific/Pago_Pago"])  # fmt: skip
def test_a_written_day_is_that_day_wherever_it_is_read(page, agent, project, zone):
    decide(agent, project, "On the 15th", datetime(2026, 3, 15, tzinfo=UTC), Precision.DAY)
    assert days_of(page(zone, what="decision")) == {"2026-03-15": ["On the 15th"]}
    assert days_of(page(what="decision", when="March 15th 2026")) == {"2026-03-15": ["On the 15th"]}
    assert days_of(page(what="decision", when="2026-03-14")) == {}
    assert days_of(page(what="decision", when="2026-03-16")) == {}


def test_what_happened_on_march_15th_is_another_answer_in_sao_paulo_and_in_kolkata(page, agent, project):
    decide(agent, project, "written day", datetime(2026, 3, 15, tzinfo=UTC), Precision.DAY)
    for title, instant in (
        ("night", "2026-03-15T02:00"), ("noon", "2026-03-15T12:00"), ("evening", "2026-03-15T20:00"),
        ("late", "2026-03-16T01:00"), ("before", "2026-03-14T19:00"),
    ):  # fmt: skip
        decide(agent, project, title, datetime.fromisoformat(instant).replace(tzinfo=UTC))
    asked = {"what": "decision", "when": "2026-03-15"}
    assert days_of(page("America/Sao_Paulo", **asked)) == {
        "2026-03-15": ["late", "evening", "noon", "written day"]
    }
    assert days_of(page("Asia/Kolkata", **asked)) == {
        "2026-03-15": ["noon", "night", "before", "written day"]
    }
    assert days_of(page("UTC", **asked)) == {"2026-03-15": ["evening", "noon", "night", "written day"]}


@pytest.mark.parametrize("zone", ["America/Sao_Paulo", "Asia/Kolkata", "UTC"])
def test_pages_leave_nothing_out_and_tell_nothing_twice(agent, project, zone):
    """Many at one time, of several sources, and written days between them."""
    noon = datetime(2026, 3, 15, 12, tzinfo=UTC)
    with timezone.override(zone):
        for number in range(9):
            day = datetime(2026, 3, 14 + number % 3, tzinfo=UTC)
            decide(agent, project, f"day {number}", day, Precision.DAY)
            decide(agent, project, f"instant {number}", noon if number % 2 else day + timedelta(hours=3))
            decision = decide(agent, project, f"start {number}", timezone.make_aware(datetime(2026, 3, 15)))
            record_outcome(actor=agent, decision=decision, type="success", occurred_at=noon)
            record_run(actor=agent, project=project, agent_name="dba", started_at=noon)
        wanted = Wanted(project)
        whole = [(e.when, e.what, e.node_id) for e in events_page(wanted, size=500).events]
        assert len(whole) == 45
        assert [when for when, *_rest in whole] == sorted((when for when, *_rest in whole), reverse=True)
        for size in (1, 4, 7, 44):
            told, cursor, pages = [], "", 0
            while True:
                found = events_page(wanted, cursor=cursor, size=size)
                told += [(e.when, e.what, e.node_id) for e in found.events]
                pages += 1
                if found.next_cursor is None:
                    break
                cursor = found.next_cursor
                assert pages < 60
            assert told == whole, size


def test_the_page_links_lead_through_all_of_it(page, agent, project):
    for number in range(60):
        decide(
            agent, project, f"number {number}", datetime(2026, 3, 15, tzinfo=UTC) - timedelta(hours=number)
        )
    first = page(what="decision")
    (older,) = re.findall(r'href="([^"]*cursor[^"]*)" hx-get', text_of(first))
    query = {name: values[0] for name, values in parse_qs(urlsplit(older).query).items()}
    second = page(**query)
    titles = [title for answer in (first, second) for day in days_of(answer).values() for title in day]
    assert titles == [f"number {number}" for number in range(60)]
    assert "Newest" in text_of(second)
    assert "cursor" not in re.findall(r'href="([^"]*)" hx-get[^>]*>Newest', text_of(second))[0]


def test_statements_do_not_grow_with_what_happened(page, week, agent, curator, project):
    def statements() -> int:
        page()
        with CaptureQueriesContext(connection) as context:
            page()
        return len(context)

    few = statements()
    for number in range(12):
        decision = decide(agent, project, f"more {number}", datetime(2026, 3, 1, tzinfo=UTC), Precision.DAY)
        record_outcome(actor=agent, decision=decision, type="success")
        record_run(actor=agent, project=project, agent_name="dba")
        review([decision], "approved", actor=curator)
    assert statements() == few
    assert few < 45


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"when": "someday"}, "is no day"),
        ({"when": "2026-02-30"}, "not in the calendar"),
        ({"when": "9999-12-31"}, "outside the years"),
        ({"what": "nonsense"}, "Select a valid choice"),
        ({"record": "nothing"}, "no record's id"),
        ({"colour": "red"}, "There is no such filter."),
        ({"by": "a\x00b"}, "Null characters"),
        ({"by": "a" * 256}, "at most 255"),
        ({"cursor": "abc"}, "start from its first page"),
        ({"cursor": "W10"}, "start from its first page"),
        ({"cursor": "é"}, "start from its first page"),
    ],
)
def test_what_cannot_be_asked_is_explained(page, project, asked, said):
    answer = page(**asked)
    assert answer.status_code == 422
    assert said in unescape(answer.content.decode())


@pytest.mark.parametrize("number", range(len(SOURCES)))
def test_a_cursor_of_the_edge_of_the_calendar_is_no_error_of_the_server(page, project, number):
    key = "0" * 32 if SOURCES[number].kind == "run" else 0
    for year in (1, 9999):
        moment = (
            datetime(year, 1, 1, 1, tzinfo=UTC) if year == 1 else datetime(year, 12, 31, 23, 59, tzinfo=UTC)
        )
        for zone in ("Asia/Kolkata", "America/Sao_Paulo"):
            assert page(zone, cursor=encode(Place(moment, number, moment, key))).status_code in (200, 422)


def test_rows_at_the_edge_of_the_calendar_are_shown(page, week):
    with writing():
        Outcome.objects.filter(pk=week["outcome"].pk).update(
            occurred_at=datetime(9999, 12, 31, 23, 30, tzinfo=UTC)
        )
        Run.objects.filter(pk=week["run"].pk).update(started_at=datetime(1001, 1, 1, tzinfo=UTC))
    for zone in ("Asia/Kolkata", "America/Sao_Paulo"):
        assert "outage" in text_of(page(zone))


def test_another_projects_events_stay_there(page, week, other_project):
    command = Actor.command("test")
    create_decision(actor=command, project=other_project, title="Theirs", decision="D")
    start_session(actor=command, project=other_project, session_id="theirs")
    assert "Theirs" not in text_of(page())
    assert days_of(page(session="theirs")) == {}


def test_a_part_is_swapped(page, week):
    answer = page(headers={"HX-Request": "true"}, what="run")
    assert "<html" not in text_of(answer)
    assert "alert · lag" in text_of(answer)


def test_an_empty_project_says_what_will_stand_here(page, project):
    assert "Nothing has happened yet" in text_of(page())
    assert "Nothing happened that matches" in text_of(page(what="run"))

"""Filters by days: those of the reader's zone, or the day as it was written."""

from datetime import UTC, date, datetime

import pytest
from django.utils import timezone

from tests.records.filter_sets import at, found
from tests.records.samples import list_url, make, write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]
ZONES = [
    # zone, instant in UTC, the day it is there
    ("UTC", "2026-03-15T23:30:00", "2026-03-15"),
    ("America/Sao_Paulo", "2026-03-15T02:59:59.999999", "2026-03-14"),
    ("America/Sao_Paulo", "2026-03-15T03:00:00", "2026-03-15"),
    ("Asia/Kolkata", "2026-03-14T18:29:59.999999", "2026-03-14"),
    ("Asia/Kolkata", "2026-03-14T18:30:00", "2026-03-15"),
    # 23 and 25 hours long: summer time begins and ends in Berlin
    ("Europe/Berlin", "2026-03-29T21:59:59", "2026-03-29"),
    ("Europe/Berlin", "2026-03-29T22:00:00", "2026-03-30"),
    ("Europe/Berlin", "2026-10-25T22:59:59", "2026-10-25"),
    ("Europe/Berlin", "2026-10-25T23:00:00", "2026-10-26"),
    # a day without a midnight, and a midnight after an hour that came twice
    ("America/Sao_Paulo", "2017-10-15T02:59:59", "2017-10-14"),
    ("America/Sao_Paulo", "2017-10-15T03:00:00", "2017-10-15"),
    ("America/Sao_Paulo", "2018-02-18T02:30:00", "2018-02-17"),
    ("America/Sao_Paulo", "2018-02-18T03:00:00", "2018-02-18"),
    ("Pacific/Apia", "2011-12-30T10:00:00", "2011-12-31"),  # the 30th was left out there
]


@pytest.mark.parametrize(("zone", "instant", "day"), ZONES)
def test_an_instant_is_on_the_day_that_it_is_in_the_readers_zone(agent, project, zone, instant, day):
    decision = make("decision", agent, project, decided_at=at(instant))
    run = make("run", agent, project, started_at=at(instant))
    before = date.fromordinal(date.fromisoformat(day).toordinal() - 1)
    after = date.fromordinal(date.fromisoformat(day).toordinal() + 1)
    with timezone.override(zone):
        assert found("decision", project, f"decided={day}") == {decision.pk}
        assert (
            found("decision", project, f"decided={before}")
            == found("decision", project, f"decided={after}")
            == set()
        )
        for kind, start, key in (("decision", "decided", decision.pk), ("run", "started", run.pk)):
            assert found(kind, project, f"{start}_after={day}&{start}_before={day}") == {key}
            assert found(kind, project, f"{start}_after={after}") == set()
            assert found(kind, project, f"{start}_before={before}") == set()


@pytest.mark.parametrize(
    "zone", ["UTC", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Kiritimati", "Pacific/Pago_Pago"]
)
def test_a_written_day_is_that_day_wherever_it_is_read(agent, project, zone):
    written = make("decision", agent, project, decided_at=at("2026-03-15T00:00:00"), decided_precision="day")
    with timezone.override(zone):
        assert found("decision", project, "decided=2026-03-15") == {written.pk}
        assert (
            found("decision", project, "decided=2026-03-14")
            == found("decision", project, "decided=2026-03-16")
            == set()
        )
        assert found("decision", project, "decided_after=2026-03-15&decided_before=2026-03-15") == {
            written.pk
        }
        assert found("decision", project, "decided_after=2026-03-16") == set()
        assert found("decision", project, "decided_before=2026-03-14") == set()


def test_a_person_filters_by_the_days_of_their_own_zone(client, curator_user, agent, project):
    make("decision", agent, project, title="Late at night", decided_at=at("2026-03-15T01:00:00"))
    curator_user.time_zone = "America/Sao_Paulo"
    curator_user.save()
    client.force_login(curator_user)
    assert "Late at night" in client.get(list_url("decision"), {"decided": "2026-03-14"}).content.decode()
    assert "Late at night" not in client.get(list_url("decision"), {"decided": "2026-03-15"}).content.decode()


@pytest.mark.parametrize("zone", ["America", "../../etc/passwd", "Mars/Olympus", "\x00", "Europe/", "a" * 60])
def test_a_zone_that_is_none_is_utc(client, curator_user, project, zone):
    curator_user.time_zone = zone
    curator_user.save()
    client.force_login(curator_user)
    assert client.get(list_url("decision")).status_code == 200


@pytest.mark.parametrize("zone", ["UTC", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Kiritimati"])
def test_times_at_the_edge_of_the_calendar_are_shown_everywhere(client, curator_user, agent, project, zone):
    curator_user.time_zone = zone
    curator_user.save()
    client.force_login(curator_user)
    records = {kind: make(kind, agent, project, "T") for kind in ("decision", "session", "run", "outcome")}
    for when in (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)):
        write_as_sql(records["decision"], decided_at=when, sort_at=when)
        write_as_sql(records["session"], started_at=when, ended_at=when, created_at=when)
        write_as_sql(records["run"], started_at=when, ended_at=when, reviewed_at=when)
        write_as_sql(records["outcome"], occurred_at=when)
        for kind, record in records.items():
            assert client.get(list_url(kind)).status_code == 200, (kind, when)
            assert client.get(f"/r/{record.node_id}/", follow=True).status_code == 200, (kind, when)
        for name in ("decisions", "outcomes"):
            pk = records[name.removesuffix("s")].pk
            assert client.get(f"/p/shop/{name}/{pk}/edit/").status_code == 200, (name, when)

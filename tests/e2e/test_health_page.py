"""The health page in a browser: in every state it can be in, its acts with and without scripts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from desk.health import counts
from projects.models import User
from records import leases
from records.leases import WORKER, Lease
from records.models import ProjectionMark, Revision
from tests.e2e.test_every_page import WIDE, Look
from tests.e2e.world import filled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG_ERROR = "ValueError: " + "averylongwordthatdoesnotend" * 20


@pytest.fixture
def operator(db):
    return User.objects.create_superuser("olga", password="correct horse battery")


@pytest.fixture
def world(project, curator, agent, viewer_user):
    filled(project, curator, agent, viewer_user)
    first, second = ProjectionMark.objects.filter(kind="decision")[:2]
    ProjectionMark.objects.filter(pk__in=[first.pk, second.pk]).update(
        dead=True, error=LONG_ERROR, attempts=8
    )
    return first.node_id, second.node_id


def a_worker(name, problem="", alive=True):
    until = timezone.now() + timedelta(seconds=600 if alive else -60)
    state = {"started_at": timezone.now().isoformat(), "done": 12345, "problem": problem}
    Lease.objects.create(
        name=f"{WORKER}box:{name}", holder=f"box:{name}", until=until, beat_at=timezone.now(), state=state
    )


def kept_count(monkeypatch, missing):
    kinds = [
        {
            "name": name, "records": 4711, "nodes": 4703, "without_vector": 3, "missing": {"": missing}, "outdated": {},
            "orphans": {}, "named": {"missing": [f"dec_{number}" for number in range(40)] if missing else []},
        }
        for name in ("decision", "run")
    ]  # fmt: skip
    drift = {
        "kinds": kinds,
        "waiting": 0,
        "differs": bool(missing),
        "relations": {"SIMILAR_TO": [12000, 11999]},
    }
    monkeypatch.setattr(counts, "count_drift", lambda: drift)
    assert leases.take(counts.COUNT, "me", 60)
    counts.count_now("me", "olga")


def test_every_state_is_accessible_and_fits_a_phone(
    visit, operator, admin_user, world, monkeypatch, settings
):
    look = Look(visit("/signed-out/", operator, viewport=WIDE))
    look.open("never counted, no worker", "/health/")
    a_worker("1", problem="the encoder is not available: " + "x" * 200)
    a_worker("2", alive=False)
    kept_count(monkeypatch, missing=8)
    look.open("counted, with drift", "/health/")
    look.page.locator("summary", has_text="Rows by table").click()
    look.at("rows by table")
    kept_count(monkeypatch, missing=0)
    settings.GRAPH_URL = "bolt://127.0.0.1:9"
    look.open("the graph away", "/health/")
    look.page.locator("#again-form [name=node_id]").fill("nonsense")
    look.page.locator("#again-form button").click()
    look.page.locator(".errorlist").wait_for()
    look.at("a wrong id")
    assert leases.take(counts.COUNT, "me", 600)
    look.open("counting", "/health/")
    admin = Look(visit("/signed-out/", admin_user, viewport=WIDE))
    admin.open("as an admin", "/health/")
    from graph.connection import forget_connection

    forget_connection()
    visit.forgive("status of 422")
    assert look.wrong | admin.wrong == {}


def test_retry_and_again_in_place_and_the_count_by_itself(visit, operator, world):
    first, second = world
    page = visit("/health/", operator, viewport=WIDE)
    page.get_by_role("button", name=f"Retry {first}").click()
    expect(page.locator("#messages")).to_contain_text("1 record is tried again")
    expect(page.locator("#given-up tbody tr")).to_have_count(1)
    assert page.url.endswith("/health/")
    page.locator("#retry-reason").fill("The disk was full.")
    page.locator("#given-up .filter-bar button").click()
    expect(page.locator("#given-up")).to_have_count(0)
    assert Revision.objects.get(node_id=second, verb="retry_projection").reason == "The disk was full."
    page.locator("#again-form [name=node_id]").fill(second)
    page.locator("#again-form button").click()
    expect(page.locator("#messages")).to_contain_text(f"{second} is embedded and shown again")
    page.locator("#counted button").click()
    expect(page.locator("#counted")).to_contain_text("asked for by olga")
    expect(page.locator("#counted button")).to_have_text("Count again")


def test_everything_works_without_scripts(visit, operator, world):
    first, second = world
    page = visit("/p/shop/", operator, viewport=WIDE, java_script_enabled=False)
    page.locator("#rail a", has_text="Health").click()
    page.get_by_role("button", name=f"Retry {first}").click()
    page.locator("#given-up .filter-bar button").click()
    assert not ProjectionMark.objects.filter(dead=True).exists()
    page.locator("#again-form [name=node_id]").fill(second)
    page.locator("#again-form button").click()
    assert Revision.objects.filter(node_id=second, verb="project_again").count() == 1
    page.locator("#counted button").click()
    for _ in range(60):
        if page.locator("#counted button").count():
            break
        page.wait_for_timeout(500)
        page.locator("#counted a").click()
    assert "asked for by olga" in page.locator("#counted").inner_text()

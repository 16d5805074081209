"""The desk's main job: an agent writes a decision, a person finds it beside its likes and approves it by one key."""

import re
import time

import httpx
import pytest
from django.utils import timezone
from playwright.sync_api import expect

from decisions.actions import create_decision
from tests.conftest import make_token

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SECONDS_TO_APPEAR = 2.0
WRITTEN = {
    "project": "shop",
    "title": "Keep order totals in Redis",
    "decision": "Serve order totals from Redis with a 60 s expiry; recompute on a miss.",
    "rationale": "p95 of the totals query was 900 ms at month end.",
    "tags": ["redis", "latency"],
}


@pytest.fixture
def older(project, curator):
    """Written by a person, so reviewed: one that is alike and one that is not."""
    texts = {
        "Cache the totals of an order": "Order totals are cached in Redis for a minute and recomputed on a miss.",
        "Postal addresses keep their language": "An address is printed as the customer wrote it.",
    }
    return [
        create_decision(actor=curator, project=project, title=title, decision=text, decided_at=timezone.now())
        for title, text in texts.items()
    ]


def waiting(page, of="Decisions"):
    """The number to review beside a link of the rail; 0 where it shows none."""
    badge = page.locator(".rail a", has_text=of).locator(".waiting")
    return int(re.sub(r"\D", "", badge.inner_text())) if badge.count() else 0


def test_what_an_agent_writes_is_found_compared_and_approved(
    visit, live_server, project, curator_user, older, worker
):
    _token, text = make_token(project)
    page = visit("/p/shop/", curator_user)  # a desk in use: what it imports on its first page is imported
    page.goto("/p/shop/decisions/")
    assert waiting(page) == 0

    began = time.monotonic()
    answer = httpx.post(
        f"{live_server.url}/api/v1/decisions", json=WRITTEN, headers={"Authorization": f"Bearer {text}"}
    )
    assert answer.status_code == 201, answer.text
    # What the server says, since how soon a busy machine's browser has drawn it is another matter.
    shown = page.context.request.get("/p/shop/decisions/").text()
    took = time.monotonic() - began
    assert WRITTEN["title"] in shown
    assert re.search(r'class="waiting"[^>]*>1<', shown)
    assert took < SECONDS_TO_APPEAR, f"it took {took:.1f} s to appear on the list and in the count"
    page.reload()
    expect(page.locator("a.row-title").first).to_have_text(WRITTEN["title"])
    assert waiting(page) == 1
    page.goto("/p/shop/")
    expect(page.locator("[aria-labelledby=waiting-title] a.k-decision")).to_have_text(
        re.compile(r"1\s+decision")
    )

    page.locator("[aria-labelledby=newest-title] a", has_text=WRITTEN["title"]).click()
    page.wait_for_url("**/decisions/*/")
    give_up_at = time.monotonic() + 60
    while not page.locator("#similar table").count() and time.monotonic() < give_up_at:
        page.wait_for_timeout(200)
        page.reload()
    first = page.locator("#similar tbody tr").first
    expect(first).to_contain_text(older[0].title)
    assert re.fullmatch(r"0\.[5-9]\d", first.locator("td.num").inner_text())
    assert "cosine" in page.locator("#similar thead").inner_text()
    expect(page.locator(".page-header")).to_contain_text("unreviewed")

    page.keyboard.press("a")
    expect(page.locator(".toast")).to_contain_text("approved")
    expect(page.locator(".page-header")).to_contain_text("reviewed")
    expect(page.locator(".page-header")).not_to_contain_text("unreviewed")
    acts = page.locator("#history .timeline > li").all_inner_texts()
    assert len(acts) == 2
    assert "approved" in acts[0]
    assert "cleo" in acts[0]
    assert "web" in acts[0].lower()
    assert "created" in acts[1]
    assert "order-bot" in acts[1]
    assert "API" in acts[1]
    assert page.locator("[data-key=a]").count() == 0
    page.reload()
    assert waiting(page) == 0

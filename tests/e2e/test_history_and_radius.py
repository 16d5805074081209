"""What a run wrote, reviewed by keyboard; its radius quarantined and taken back; the belief that a record's page brings."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from decisions.actions import create_decision
from decisions.models import Decision
from records.actor import Actor
from records.models import Revision
from runs.actions import record_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def written(project, agent):
    """A run, and five decisions that it wrote."""
    run = record_run(actor=agent, project=project, agent_name="order-bot")
    actor = Actor.agent(agent.token, session="ses-1", run=run.node_id)
    for number in range(5):
        create_decision(actor=actor, project=project, title=f"No {number}", decision="As said.")
    return run


def states():
    return list(Decision.objects.order_by("pk").values_list("review_state", flat=True))


def test_one_key_a_record_and_one_undo_for_the_rest(visit, curator_user, written):
    page = visit(f"/p/shop/runs/{written.pk}/", curator_user)
    first = page.locator("#written [data-row]").first
    expect(first.get_by_role("button", name="Approve")).to_be_visible()
    first.locator("[data-open]").focus()
    page.keyboard.press("a")
    expect(page.locator("#written [data-row]").first).to_contain_text("reviewed")
    expect(page.locator("#written [data-row]").nth(1).locator("[data-open]")).to_be_focused()
    page.keyboard.press("q")
    expect(page.locator("#written [data-row]").nth(1)).to_contain_text("quarantined")
    expect(page.locator("#written [data-row]").nth(2).locator("[data-open]")).to_be_focused()
    page.keyboard.press("r")  # without a reason: refused, and said
    expect(page.locator("#messages")).to_contain_text("Say why")
    assert states() == ["approved", "quarantined", "unreviewed", "unreviewed", "unreviewed"]
    page.locator("#written-reason").fill("Nobody measured it.")
    page.get_by_role("button", name="Reject all unreviewed").click()
    expect(page.locator("#messages")).to_contain_text("3 records")
    assert states() == ["approved", "quarantined", "rejected", "rejected", "rejected"]
    page.keyboard.press("u")
    expect(page.locator("#messages")).to_contain_text("Undone")
    expect(page.locator("#main .page-header")).to_contain_text("run")  # still the page of the run
    assert states() == ["approved", "quarantined", "unreviewed", "unreviewed", "unreviewed"]


def test_the_radius_of_a_run_is_quarantined_and_taken_back(visit, curator_user, written):
    page = visit(f"/p/shop/runs/{written.pk}/", curator_user)
    page.locator("#written").get_by_role("link", name="Blast radius").click()
    expect(page.locator("h1")).to_have_text("Blast radius")
    page.locator("[data-select]").first.uncheck()
    page.locator("#radius-reason").fill("Poisoned.")
    page.get_by_role("button", name="Quarantine the selected").click()
    expect(page.locator("#messages")).to_contain_text("Quarantined 4 records")
    assert states() == ["unreviewed", *["quarantined"] * 4]
    page.keyboard.press("u")
    expect(page.locator("#messages")).to_contain_text("Undone")
    expect(page.locator("h1")).to_have_text("Blast radius")
    assert states() == ["unreviewed"] * 5


def test_the_history_by_keyboard_and_the_belief_of_a_record(visit, curator_user, written):
    page = visit("/p/shop/", curator_user)
    page.keyboard.press("g")
    page.keyboard.press("y")
    expect(page.locator("h1")).to_have_text("History")
    expect(page.locator(".changes > li")).to_have_count(6)
    page.locator("details.filters > summary").click()
    page.get_by_label("Agent", exact=True).fill("nobody")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("#changes")).to_contain_text("Nothing matches these filters")
    decision = Decision.objects.earliest("pk")
    page.goto(page.url.split("/p/")[0] + f"/p/shop/decisions/{decision.pk}/")
    page.locator("#belief").scroll_into_view_if_needed()
    expect(page.locator("#belief")).to_contain_text("Written by order-bot")
    page.get_by_label("As it was on").fill("today")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".past")).to_contain_text("not as it is now")


@pytest.mark.parametrize("all_of_it", [False, True])
def test_all_of_it_works_without_scripts(visit, curator_user, written, all_of_it):
    page = visit(f"/p/shop/runs/{written.pk}/", curator_user, java_script_enabled=False)
    page.get_by_role("link", name="Review what it wrote").click()
    if all_of_it:
        page.get_by_role("button", name="Approve all unreviewed").click()
    else:
        page.locator("#written [data-row]").first.get_by_role("button", name="Approve").click()
    assert states().count("approved") == (5 if all_of_it else 1)
    page.get_by_role("link", name="Blast radius").click()
    page.locator("#radius-reason").fill("Poisoned.")
    page.get_by_role("button", name="Quarantine everything it wrote").click()
    assert set(states()) == {"quarantined"}
    page.locator("#messages").get_by_role("button", name="Undo").click()
    assert states().count("approved") == (5 if all_of_it else 1)
    assert Revision.objects.filter(verb="undo").count() == 5

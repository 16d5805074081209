"""The inbox by keyboard alone: one key a record, reasons by one key, undo, many at once; and without scripts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from decisions.actions import create_decisions, edit_decision
from decisions.models import Decision
from records import verbs
from records.models import ReviewState, Revision
from tests.conftest import person
from tests.e2e.test_every_page import WIDE, Look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def waiting(project, agent):
    """Twenty records of an agent, of different subjects."""
    rows = [
        {"title": f"Memory number {n:02}", "decision": f"What agent {n} came to believe of part {n}."}
        for n in range(20)
    ]
    return create_decisions(actor=agent, project=project, rows=rows)


def inbox(**asked):
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    return f"{reverse('inbox:page', args=['shop'])}?{query}"


def states():
    return sorted(Decision.objects.values_list("review_state", flat=True))


def test_twenty_records_are_triaged_with_one_key_each(visit, curator_user, waiting):
    page = visit(inbox(), curator_user, viewport=WIDE)
    rows, pane = page.locator("#inbox-list [data-row]"), page.locator("#inbox-pane")
    expect(rows).to_have_count(20)
    loads = []
    page.on("request", lambda request: loads.append(request.url) if request.is_navigation_request() else None)
    for n in range(20):
        title = pane.locator("h1").inner_text()
        with page.expect_response(lambda answer: answer.request.method == "POST"):
            page.keyboard.press("q" if n % 5 == 4 else "a")
        # What is quarantined waits on, for somebody else; what is approved has left.
        expect(rows.filter(has_text=title)).to_have_count(1 if n % 5 == 4 else 0)
        if n < 19:
            expect(pane.locator("h1")).not_to_have_text(title)
    expect(pane).to_contain_text("quarantined")
    assert loads == []  # the next one came without a page load
    assert states().count(ReviewState.APPROVED) == 16
    assert states().count(ReviewState.QUARANTINED) == 4
    assert set(Revision.objects.filter(verb="approve").values_list("user__username", flat=True)) == {"cleo"}


def test_rejecting_asks_why_once_and_is_taken_back_by_one_key(visit, curator_user, waiting):
    page = visit(inbox(), curator_user, viewport=WIDE)
    rows = page.locator("#inbox-list [data-row]")
    page.keyboard.press("r")
    expect(page.locator("dialog#reject-dialog")).to_be_visible()
    page.keyboard.press("1")
    expect(rows).to_have_count(19)
    expect(page.locator("dialog#reject-dialog[open]")).to_have_count(0)
    assert Revision.objects.get(verb="reject").reason
    page.keyboard.press("u")
    expect(rows).to_have_count(20)
    assert states() == [ReviewState.UNREVIEWED] * 20


def test_all_that_match_are_approved_at_once_with_a_report_and_one_undo(visit, curator_user, waiting, agent):
    page = visit(inbox(), curator_user, viewport=WIDE)
    page.locator("[data-select-all]").check()
    changed = waiting[3]
    edit_decision(
        actor=agent, decision=changed, changes={"title": "Another title"}
    )  # behind the reader's back
    page.keyboard.press("A")
    expect(page.locator("main")).to_contain_text("could not be changed")
    expect(page.locator("main")).to_contain_text(changed.node_id)
    assert states().count(ReviewState.APPROVED) == 19
    page.keyboard.press("u")
    expect(page.locator("#messages")).to_contain_text("19")
    assert states() == [ReviewState.UNREVIEWED] * 20


def test_two_people_on_one_record_lose_nothing(visit, curator_user, admin_user, waiting):
    page = visit(inbox(selected=waiting[0].node_id), curator_user, viewport=WIDE)
    edit_decision(
        actor=person(admin_user), decision=waiting[0], changes={"decision": "Somebody else's words."}
    )
    visit.forgive("status of 409", "status of 422")
    page.keyboard.press("a")
    expect(page.locator("body")).to_contain_text("Look at it as it is now")
    assert Decision.objects.get(pk=waiting[0].pk).review_state == ReviewState.UNREVIEWED


def test_it_works_without_scripts(visit, curator_user, waiting):
    page = visit(inbox(), curator_user, java_script_enabled=False)
    page.locator("#inbox-list .row-title").nth(2).click()
    title = page.locator("#inbox-pane h1").inner_text()
    page.locator("#inbox-pane").get_by_role("button", name="Approve").click()
    assert Decision.objects.get(title=title).review_state == ReviewState.APPROVED
    expect(page.locator("#inbox-list [data-row]")).to_have_count(19)
    page.get_by_role("button", name="Undo").click()
    assert Decision.objects.get(title=title).review_state == ReviewState.UNREVIEWED


def test_stale_records_are_confirmed_by_one_key(visit, curator_user, project, curator, waiting):
    from records.attention import look_again
    from records.models import Attention

    verbs.review(waiting[:3], ReviewState.APPROVED, actor=curator)
    look_again([record.node_id for record in waiting[:3]])
    long_ago = timezone.now() - timedelta(days=400)
    Attention.objects.filter(standing="settled").update(touched_at=long_ago)
    page = visit(inbox(queue="stale"), curator_user, viewport=WIDE)
    rows = page.locator("#inbox-list [data-row]")
    expect(rows).to_have_count(3)
    for left in (2, 1, 0):
        page.keyboard.press("c")
        expect(rows).to_have_count(left)
    assert Revision.objects.filter(verb="confirm").count() == 3


def test_every_queue_is_accessible_in_both_themes_and_narrow(visit, curator_user, waiting):
    look = Look(visit("/signed-out/", curator_user, viewport=WIDE, color_scheme="light"))
    for queue in ("review", "stale", "conflicts", "duplicates"):
        look.open(queue, inbox(queue=queue))
    look.open("open record", inbox(selected=waiting[1].node_id))
    assert look.wrong == {}

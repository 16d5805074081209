"""The queues of pairs by keyboard alone: compare and supersede, keep apart, merge three and take that back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from curation.models import Sort, SuggestedPair, Verdict
from curation.pairs.keeping import keep_pairs
from decisions.actions import create_decision
from decisions.models import Decision
from records.links import link
from records.models import Link, Relation
from tests.e2e.test_every_page import WIDE, Look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

REDIS = (
    "Serve order totals from Redis with an expiry of {} seconds. On a miss they are computed from the MySQL replicas "
    "and written back. Totals change rarely once a payment was captured."
)


@pytest.fixture
def pairs(project, agent, curator):
    """Two that disagree, two more, and three that say the same."""

    def decide(title, decision, **fields):
        return create_decision(actor=agent, project=project, title=title, decision=decision, **fields)

    redis = decide("Cache order totals in Redis for a minute", REDIS.format(60), rationale="p95 was 480 ms.")
    later = decide("Cache order totals in Redis for 90 s", REDIS.format(90), alternatives_considered="None.")
    pin = decide("Pin protobuf below 6", "Pin it until the gateway is upgraded.")
    free = decide("Take any protobuf", "Take whatever the gateway takes.")
    same = [
        decide(f"Keyset pagination{' ' * n}", "Page by created_at and id, never by OFFSET.") for n in range(3)
    ]
    for one, other in ((redis, later), (pin, free)):
        link(one, Relation.CONTRADICTS, other, actor=agent)
    for record in (pin, redis):  # of equal scores the later suggestion stands first
        keep_pairs([record.node_id])
    keep_pairs([record.node_id for record in same])
    return {"redis": redis, "later": later, "pin": pin, "free": free, "same": same}


def inbox(queue):
    return f"{reverse('inbox:page', args=['shop'])}?queue={queue}"


def picture(page, name):
    """Pictures of what a person sees here, where a folder for them is named."""
    if folder := os.environ.get("PICTURES"):
        for look, options in (
            ("light", {"color_scheme": "light"}),
            ("dark", {"color_scheme": "dark"}),
        ):
            page.emulate_media(**options)
            page.screenshot(path=Path(folder) / f"{name}-{look}.png")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 360, "height": 740})
        page.screenshot(path=Path(folder) / f"{name}-narrow.png", full_page=True)
        page.set_viewport_size(WIDE)


def test_a_pair_is_compared_and_superseded_by_one_key_and_the_next_is_open(visit, curator_user, pairs):
    page = visit(inbox("conflicts"), curator_user, viewport=WIDE)
    pane = page.locator("#inbox-pane")
    expect(pane).to_contain_text("order-bot says that they contradict")
    expect(pane.locator("ins").filter(has_text="90").first).to_be_visible()
    picture(page, "conflicts")
    page.keyboard.press("s")
    expect(page.locator("#inbox-list [data-row]")).to_have_count(1)
    expect(page.locator("#messages")).to_contain_text(f"{pairs['later'].node_id} supersedes")
    assert Decision.objects.get(pk=pairs["redis"].pk).status == "superseded"
    assert Link.objects.filter(relation=Relation.SUPERSEDES, source=pairs["later"].node_id).exists()
    page.keyboard.press("u")
    expect(page.locator("#inbox-list [data-row]")).to_have_count(2)
    assert Decision.objects.get(pk=pairs["redis"].pk).status == "accepted"
    expect(page.locator("#inbox-pane")).to_contain_text("Side by side")


def test_what_is_unrelated_leaves_the_queue_for_good(visit, curator_user, pairs):
    page = visit(inbox("conflicts"), curator_user, viewport=WIDE)
    for left in (1, 0):
        page.keyboard.press("d")
        expect(page.locator("#inbox-list [data-row]")).to_have_count(left)
    expect(page.locator("#inbox-pane")).to_contain_text("Nothing contradicts")
    verdicts = set(SuggestedPair.objects.filter(sort=Sort.CONFLICT).values_list("verdict", flat=True))
    assert verdicts == {Verdict.UNRELATED}


def test_three_duplicates_are_merged_and_that_is_undone_by_keyboard(visit, curator_user, pairs):
    page = visit(inbox("duplicates"), curator_user, viewport=WIDE)
    expect(page.locator("#inbox-pane")).to_contain_text("3 records say nearly the same")
    picture(page, "duplicates")
    page.keyboard.press("m")
    button = page.get_by_role("button", name="Merge 2 into")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#messages")).to_contain_text("Undo")
    assert Decision.objects.exclude(merged_into=None).count() == 2
    assert not SuggestedPair.objects.filter(sort=Sort.DUPLICATE, is_open=True).exists()
    page.keyboard.press("u")
    expect(page.locator("#messages")).not_to_contain_text("Merged")
    assert not Decision.objects.exclude(merged_into=None).exists()


def test_it_works_without_scripts(visit, curator_user, pairs):
    page = visit(inbox("conflicts"), curator_user, java_script_enabled=False)
    page.get_by_role("button", name="Unrelated, keep both").click()
    expect(page.locator("#inbox-list [data-row]")).to_have_count(1)
    page.locator("#inbox-list .row-title").first.click()
    page.get_by_role("button", name="Contradict", exact=True).click()
    expect(page.locator("#inbox-pane")).to_contain_text("Nothing contradicts")


def test_the_pages_are_accessible_in_both_themes_and_narrow(visit, curator_user, pairs):
    look = Look(visit("/signed-out/", curator_user, viewport=WIDE, color_scheme="light"))
    compare = (
        f"{reverse('pairs:compare', args=['shop'])}?a={pairs['redis'].node_id}&b={pairs['later'].node_id}"
    )
    look.open("compare", compare)
    picture(look.page, "compare")
    look.open("ask", reverse("pairs:compare", args=["shop"]))
    for queue in ("conflicts", "duplicates"):
        look.open(queue, inbox(queue))
    assert look.wrong == {}

"""Confidence by slider, votes, severity and "met again", in place."""

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import expect

from patterns.actions import adjust_confidence, create_pattern, record_evidence
from patterns.models import Pattern
from pitfalls.actions import create_pitfall

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def pattern(agent, project):
    made = create_pattern(
        actor=agent, project=project, category="caching", name="Cache-aside with a lease",
        code_example="value = cache.get(key)", language="python",
    )  # fmt: skip
    record_evidence(actor=agent, pattern=made, worked=True)
    return Pattern.objects.get(pk=made.pk)


@pytest.fixture
def page(visit, curator_user, pattern):
    return visit(f"/p/shop/patterns/{pattern.pk}/", curator_user)


def test_the_slider_moves_its_number_by_keyboard_and_the_number_the_slider(page):
    slider, number = page.locator("#confidence-slider"), page.locator("#confidence-number")
    before = float(number.input_value())
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert float(number.input_value()) == pytest.approx(before + 0.05)
    number.fill("0.2")
    expect(slider).to_have_value("0.2")


def test_the_confidence_is_adjusted_with_a_reason_in_place(page, pattern):
    page.locator("#confidence-slider").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    chosen = page.locator("#confidence-number").input_value()
    submit = page.get_by_role("button", name="Adjust the confidence")
    submit.click()
    assert page.locator("#confidence-reason").evaluate("field => field.validity.valueMissing")
    page.locator("#confidence-reason").fill("It failed in staging.")
    page.evaluate("() => { window.samePage = true; }")
    submit.click()
    expect(page.locator(".toast")).to_contain_text(f"is now {float(chosen):.2f}")
    assert page.evaluate("() => window.samePage"), "the page was loaded anew"
    assert page.evaluate("() => document.activeElement.tagName") == "H1"
    expect(page.locator("#confidence-number")).to_have_value(f"{float(chosen):.2f}")
    expect(page.locator("#confidence-reason")).to_have_value("")
    expect(page.locator("#history .timeline > li").first).to_contain_text("It failed in staging.")
    assert Pattern.objects.get(pk=pattern.pk).confidence_score == pytest.approx(float(chosen))


def test_votes_move_the_confidence_and_its_sparkline(page, pattern):
    spark = page.locator("svg.spark")
    assert "confidence" in spark.get_attribute("aria-label").lower()
    before, line = pattern.confidence_score, spark.locator("polyline").get_attribute("points")
    page.keyboard.press("-")
    expect(page.locator(".toast")).to_contain_text("is now")
    expect(page.locator("[aria-labelledby=evidence-title] tbody tr")).to_have_count(3)
    after = Pattern.objects.get(pk=pattern.pk)
    assert after.confidence_score < before
    assert (after.worked_count, after.failed_count) == (1, 1)
    assert spark.locator("polyline").get_attribute("points") != line
    page.get_by_role("button", name="It worked").click()
    expect(page.locator("[aria-labelledby=evidence-title] tbody tr")).to_have_count(4)
    assert Pattern.objects.get(pk=pattern.pk).worked_count == 2


def test_a_stale_adjustment_meets_the_conflict_in_place_with_what_was_typed(visit, page, pattern, curator):
    adjust_confidence(
        actor=curator, pattern=Pattern.objects.get(pk=pattern.pk), confidence=0.9, reason="Seen to work."
    )
    page.locator("#confidence-number").fill("0.3")
    page.locator("#confidence-reason").fill("It failed in staging.")
    page.get_by_role("button", name="Adjust the confidence").click()
    conflict = page.locator("#conflict")
    expect(conflict).to_contain_text("cleo changed")
    expect(conflict.locator("[name=confidence]")).to_have_value("0.3")
    assert "It failed in staging." in [
        field.input_value() for field in conflict.locator("[name=reason]").all()
    ]
    assert Pattern.objects.get(pk=pattern.pk).confidence_score == pytest.approx(0.9)
    conflict.get_by_role("button", name="Save yours").click()
    expect(page.locator(".toast")).to_contain_text("is now 0.30")
    expect(page.locator("#history .timeline > li").first).to_contain_text("It failed in staging.")
    visit.forgive("status of 409")


def test_an_adjustment_after_the_session_ended_is_kept_and_put_back(page, pattern, curator_user):
    page.locator("#confidence-number").fill("0.31")
    page.locator("#confidence-reason").fill("Typed before lunch.")
    Session.objects.all().delete()
    page.get_by_role("button", name="Adjust the confidence").click()
    page.locator(".toast-error a").click()
    page.wait_for_url("**/login/**")
    page.get_by_label("Username").fill(curator_user.username)
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**/patterns/{pattern.pk}/")
    expect(page.locator("#confidence-number")).to_have_value("0.31")
    expect(page.locator("#confidence-reason")).to_have_value("Typed before lunch.")
    assert Pattern.objects.get(pk=pattern.pk).confidence_score == pytest.approx(pattern.confidence_score)


@pytest.fixture
def pitfall(agent, project):
    return create_pitfall(
        actor=agent, project=project, category="caching", title="Stampede on expiry", severity="low"
    )


def test_a_pitfall_is_met_again_and_made_severe_with_a_reason(visit, curator_user, pitfall):
    page = visit(f"/p/shop/pitfalls/{pitfall.pk}/", curator_user)
    page.keyboard.press("+")
    expect(page.locator("#encounters-title")).to_have_text("Met 2 times")
    expect(page.locator(".toast")).to_be_visible()
    page.locator("[data-dialog=severity-dialog]").click()
    dialog = page.locator("#severity-dialog")
    dialog.locator("select").select_option("critical")
    dialog.locator("textarea").fill("It took the shop down.")
    dialog.locator("button.primary").click()
    expect(page.locator(".page-header .badges")).to_contain_text("critical")
    expect(page.locator("#history .timeline > li").first).to_contain_text("It took the shop down.")

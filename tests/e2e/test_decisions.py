"""Decisions as a person works with them: every verb, the list's filters and pages, the keyboard, what must not be lost."""

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import expect

from decisions.actions import create_decision, edit_decision
from decisions.models import Decision

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DECISIONS = "/p/shop/decisions/"
PASSWORD = "correct horse battery"


@pytest.fixture
def written(agent, project):
    """By an agent, so unreviewed."""
    return create_decision(
        actor=agent, project=project, title="Cache order totals", decision="Serve totals from **Redis**.",
        rationale="p95 was 480 ms.", tags=["redis"],
    )  # fmt: skip


@pytest.fixture
def other(curator, project):
    return create_decision(
        actor=curator, project=project, title="Totals come from the primary", decision="Never cached."
    )


@pytest.fixture
def page(visit, curator_user, written):
    """The decision's page, as the curator sees it."""
    return visit(f"{DECISIONS}{written.pk}/", curator_user)


def focused(page, what="tagName"):
    """What has the focus, once a swap has given it to something."""
    for _ in range(60):
        if page.evaluate("() => document.activeElement !== document.body"):
            break
        page.wait_for_timeout(50)
    return page.evaluate(f"() => document.activeElement.{what}")


def acts(page):
    return page.locator("#history .timeline > li")


def test_one_is_written_and_edited_with_a_reason(visit, curator_user, project):
    page = visit(DECISIONS, curator_user)
    page.keyboard.press("c")
    page.wait_for_url("**/decisions/new/")
    page.get_by_label("Title").fill("Queue mails in the database")
    page.locator("#id_decision").fill("A table, polled each second.")
    page.get_by_label("Tags").fill("mail, queue")
    page.get_by_role("button", name="Record the decision").click()
    page.wait_for_url(re.compile(r"/decisions/\d+/$"))
    expect(page.locator("h1")).to_have_text("Queue mails in the database")
    expect(page.locator(".toast")).to_contain_text("Recorded dec_")
    expect(page.locator(".page-header")).to_contain_text(
        "reviewed"
    )  # a curator's own word needs no second look

    page.keyboard.press("e")
    page.wait_for_url("**/edit/")
    page.locator("#id_decision").fill("A table, polled each minute.")
    page.locator("[name=reason]").fill("Nobody waits for a mail.")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile(r"/decisions/\d+/$"))
    newest = acts(page).first
    expect(newest).to_contain_text("Nobody waits for a mail.")
    expect(newest.locator("del")).to_contain_text("second")
    expect(newest.locator("ins")).to_contain_text("minute")


def test_what_is_missing_is_said_beside_the_field_and_nothing_is_lost(visit, curator_user, project):
    page = visit(f"{DECISIONS}new/", curator_user)
    page.locator("#id_decision").fill("A text without a title.")
    page.get_by_role("button", name="Record the decision").click()
    title = page.locator("#id_title")
    expect(title).to_have_attribute("aria-invalid", "true")
    error = page.locator(f"[id='{title.get_attribute('aria-describedby').split()[-1]}']")
    expect(error).to_contain_text("required")
    expect(page.locator("#id_decision")).to_have_value("A text without a title.")
    assert not Decision.objects.exists()
    visit.forgive("status of 422")


def test_the_status_is_changed_in_a_dialog_that_asks_why(page, written):
    opener = page.locator("[data-dialog=status-dialog]")
    opener.click()
    dialog = page.locator("#status-dialog")
    expect(dialog).to_be_visible()
    assert focused(page) == "SELECT"
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert focused(page, "dataset.dialog") == "status-dialog"
    opener.click()
    dialog.locator("select").select_option("deprecated")
    dialog.locator("button.primary").click()
    expect(dialog).to_be_visible()  # the reason is required
    dialog.locator("textarea").fill("Replaced by an index.")
    dialog.locator("button.primary").click()
    expect(page.locator(".toast")).to_contain_text("deprecated")
    expect(page.locator(".page-header .badges")).to_contain_text("deprecated")
    expect(acts(page).first).to_contain_text("Replaced by an index.")


def test_it_is_superseded_contradicted_and_followed_by_an_outcome(visit, page, written, other):
    page.keyboard.press("s")
    page.wait_for_url("**/supersede/")
    page.locator("#id_by").fill("dec_999")
    page.get_by_role("button", name="Supersede").click()
    expect(page.locator("#id_by")).to_have_attribute("aria-invalid", "true")
    page.locator("#id_by").fill(other.node_id)
    page.get_by_role("button", name="Supersede").click()
    expect(page.locator(".notice", has_text="Superseded by")).to_contain_text(other.title)
    expect(page.locator(".page-header .badges")).to_contain_text("superseded")

    page.get_by_role("link", name="Contradicts…").click()
    page.locator("#id_other").fill(other.node_id)
    page.locator("[name=reason]").fill("Both cannot hold.")
    page.locator("main button.primary").click()
    expect(page.locator(".notice", has_text="Contradicts")).to_contain_text(other.title)

    page.keyboard.press("o")
    page.wait_for_url("**/outcome/")
    page.locator("#id_type").fill("success")
    page.locator("#id_success_rate").fill("0.97")
    page.locator("main button.primary").click()
    expect(page.locator("#outcomes .row")).to_contain_text("0.97")
    visit.forgive("status of 422")


def test_a_rejected_one_is_hidden_and_found_again(visit, page, written):
    page.keyboard.press("r")
    dialog = page.locator("#reject-dialog")
    expect(dialog).to_be_visible()
    assert focused(page) == "TEXTAREA"
    page.keyboard.type("Nobody measured it: a guess.")  # the letters are text now, no shortcuts
    dialog.locator("button.primary").click()
    expect(page.locator(".page-header .badges")).to_contain_text("memory rejected")
    expect(acts(page).first).to_contain_text("Nobody measured it: a guess.")
    page.goto(DECISIONS)
    expect(page.locator("a.row-title")).to_have_count(0)
    page.get_by_role("link", name="1 hidden").click()
    expect(page.locator("a.row-title")).to_have_text([written.title])
    assert "show=all" in page.url


def test_it_is_archived_and_restored(page, written):
    page.locator("[data-dialog=archive-dialog]").click()
    page.locator("#archive-dialog button.primary").click()
    expect(page.locator(".page-header .badges")).to_contain_text("archived")
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("restored")
    expect(page.locator(".page-header .badges")).not_to_contain_text("archived")
    assert focused(page) == "H1"  # where the eye goes after the swap


def test_approving_moves_the_counts_of_the_frame_too(page, written):
    badge = page.locator(".rail [aria-current] .waiting")
    expect(badge).to_contain_text("1")
    page.keyboard.press("a")
    expect(page.locator(".toast")).to_contain_text("approved")
    expect(badge).to_have_count(0)
    assert focused(page) == "H1"


@pytest.fixture
def many(agent, curator, project):
    """More than a page: every third one by a person, so reviewed."""
    now = timezone.now()
    return [
        create_decision(
            actor=agent if at % 3 else curator, project=project, title=f"Decision number {at}", decision="d",
            decided_at=now - timedelta(hours=at), tags=["even"] if at % 2 == 0 else None,
        )
        for at in range(55)
    ]  # fmt: skip


def titles(page):
    return page.locator("a.row-title").all_inner_texts()


def test_filters_live_in_the_address_and_survive_back_and_reload(visit, curator_user, many):
    page = visit(DECISIONS, curator_user)
    everything = titles(page)
    page.keyboard.press("f")
    box = page.get_by_label("approved", exact=True)
    box.check()
    page.wait_for_url("**review=approved**")
    expect(page.locator(".pager [role=status]")).to_contain_text("19 decisions")
    assert focused(page, "id") == box.get_attribute("id"), "the focus is lost in the swap"
    expect(page.locator(".chip .remove")).to_have_count(1)
    assert len(titles(page)) == 19
    assert page.url.partition("?")[2] == "review=approved", "empty fields are in the address"
    page.get_by_label("Words or a line of search").fill("number 3")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=number**")
    expect(page.locator("a.row-title")).to_have_count(5)  # 3, 30, 33, 36, 39
    filtered = titles(page)
    page.reload()
    assert titles(page) == filtered
    page.go_back()
    page.wait_for_url(lambda address: "q=" not in address)
    expect(page.locator("a.row-title")).to_have_count(19)
    page.go_back()
    page.wait_for_url(f"**{DECISIONS}")
    expect(page.locator("a.row-title")).to_have_count(len(everything))
    assert titles(page) == everything
    page.go_forward()
    page.wait_for_url("**review=approved**")
    page.locator(".chip", has_text="approved").first.click()
    page.wait_for_url(f"**{DECISIONS}")
    assert titles(page) == everything


def test_the_pages_of_a_list_go_on_and_back_and_download_as_csv(visit, curator_user, many):
    page = visit(f"{DECISIONS}?q=number", curator_user)
    first = titles(page)
    assert first[0] == "Decision number 0"
    expect(page.locator(".pager [role=status]")).to_contain_text("55 decisions")
    page.locator("a[rel=next]").click()
    page.wait_for_url("**cursor=**")
    expect(page.locator("a.row-title").last).to_have_text("Decision number 54")
    second = titles(page)
    assert len(first) + len(second) == 55
    assert not set(first) & set(second)
    page.locator("a[rel=prev]").click()
    expect(page.locator("a.row-title").first).to_have_text("Decision number 0")
    assert titles(page) == first
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    with open(download.value.path(), encoding="utf-8") as saved:
        assert len(saved.readlines()) == 56


def test_the_keyboard_walks_the_list_and_opens(visit, curator_user, many):
    page = visit(DECISIONS, curator_user)
    shown = titles(page)
    for key, at in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        assert focused(page, "textContent") == shown[at]
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/decisions/\d+/$"))
    expect(page.locator("h1")).to_have_text(shown[1])
    page.go_back()
    page.keyboard.press("?")
    help_ = page.locator("#keys-dialog")
    expect(help_).to_be_visible()
    listed = [keys.strip() for keys in help_.locator("dt").all_inner_texts()]
    assert {"j", "k", "Enter", "f", "c", "g o", "g d", "?"} <= set(listed)
    help_.locator("[data-keys-switch]").uncheck()
    help_.get_by_role("button", name="Close").click()
    page.keyboard.press("c")
    page.keyboard.press("j")
    assert page.url.endswith(DECISIONS), "single keys are switched off"
    assert focused(page, "className") != "row-title"


def test_going_places_takes_two_keys(page):
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.wait_for_url("**/patterns/")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url("**/p/shop/")


def saved_meanwhile(written, curator, title="Cache order totals for 5 s"):
    edit_decision(actor=curator, decision=Decision.objects.get(pk=written.pk), changes={"title": title})


def test_a_stale_form_meets_the_conflict_page_and_keeps_what_was_typed(visit, curator_user, written, curator):
    page = visit(f"{DECISIONS}{written.pk}/edit/", curator_user)
    page.locator("#id_title").fill("Cache order totals for 60 s")
    page.locator("#id_rationale").fill("Measured at month end.")
    page.locator("[name=reason]").fill("It was too short.")
    saved_meanwhile(written, curator)
    page.get_by_role("button", name="Save").click()
    conflict = page.locator("#conflict")
    expect(conflict).to_contain_text("cleo changed")
    expect(conflict.locator("[data-theirs=title]")).to_have_text("Cache order totals for 5 s")
    expect(page.locator("#id_title")).to_have_value("Cache order totals for 60 s")
    expect(page.locator("#id_rationale")).to_have_value("Measured at month end.")
    assert Decision.objects.get(pk=written.pk).title == "Cache order totals for 5 s"
    conflict.get_by_role("button", name="Save yours").click()
    expect(page.locator("h1")).to_have_text("Cache order totals for 60 s")
    expect(acts(page).first).to_contain_text("It was too short.")
    assert acts(page).count() == 3
    visit.forgive("status of 409")


def test_a_stale_button_meets_the_conflict_in_place(visit, page, written, curator):
    saved_meanwhile(written, curator)
    page.keyboard.press("a")
    expect(page.locator("#conflict")).to_contain_text("cleo changed")
    assert focused(page, "id") == "conflict-title"
    assert Decision.objects.get(pk=written.pk).review_state == "unreviewed"
    page.get_by_role("button", name="Save yours").click()
    expect(page.locator(".page-header .badges")).to_contain_text("reviewed")
    assert Decision.objects.get(pk=written.pk).review_state == "approved"
    visit.forgive("status of 409")


def sign_in(page, user):
    page.get_by_label("Username").fill(user.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def test_a_session_that_ended_keeps_what_was_typed(visit, curator_user, written):
    page = visit(f"{DECISIONS}{written.pk}/edit/", curator_user)
    page.locator("#id_title").fill("Cache order totals for a minute")
    page.locator("#id_rationale").fill("Typed before lunch.")
    Session.objects.all().delete()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/login/?next=**")
    assert Decision.objects.get(pk=written.pk).title == written.title
    sign_in(page, curator_user)
    page.wait_for_url("**/edit/")
    expect(page.locator("#id_title")).to_have_value("Cache order totals for a minute")
    expect(page.locator("#id_rationale")).to_have_value("Typed before lunch.")
    expect(page.locator("#activity")).to_contain_text("back in the form")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile(r"/decisions/\d+/$"))
    assert Decision.objects.get(pk=written.pk).title == "Cache order totals for a minute"


def test_a_button_pressed_after_the_session_ended_says_so_and_changes_nothing(page, written):
    Session.objects.all().delete()
    page.keyboard.press("a")
    expect(page.locator(".toast-error")).to_contain_text("Signed out")
    expect(page.locator("h1")).to_have_text(written.title)
    assert "next=" in page.locator(".toast-error a").get_attribute("href")
    assert Decision.objects.get(pk=written.pk).review_state == "unreviewed"


def test_typed_text_is_guarded_when_one_leaves(visit, curator_user, written):
    page = visit(f"{DECISIONS}{written.pk}/edit/", curator_user)
    page.locator("#id_title").fill("Half a thought")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.get_by_role("link", name="Overview").click()
    page.wait_for_timeout(300)
    assert asked == ["beforeunload"]
    expect(page.locator("#id_title")).to_have_value("Half a thought")

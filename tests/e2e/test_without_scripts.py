"""JavaScript off: one can still list, filter, read, write, review, vote, see the graph, manage tokens, sign in and out."""

import re

import pytest
from playwright.sync_api import expect

from decisions.actions import create_decision
from decisions.models import Decision
from patterns.actions import create_pattern
from patterns.models import Pattern
from pitfalls.actions import create_pitfall
from recall.models import Similarity
from records.models import Revision

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def plain(visit):
    def open_page(path, user=None):
        return visit(path, user, java_script_enabled=False)

    return open_page


@pytest.fixture
def written(agent, project):
    return create_decision(
        actor=agent, project=project, title="Cache order totals", decision="Redis.", tags=["redis"]
    )


def test_a_list_is_filtered_sorted_and_paged(plain, viewer_user, agent, curator, project, written):
    for at in range(55):
        create_decision(actor=curator, project=project, title=f"Number {at}", decision="d")
    page = plain("/p/shop/decisions/", viewer_user)
    page.locator("details.filters > summary").click()
    page.get_by_label("Words or a line of search").fill("number")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".pager")).to_contain_text("55 decisions")
    assert "q=number" in page.url
    first = page.locator("a.row-title").all_inner_texts()
    page.locator("a[rel=next]").click()
    assert len(first) + page.locator("a.row-title").count() == 55
    page.get_by_role("link", name="oldest first").click()
    expect(page.locator("a.row-title").first).to_have_text("Number 0")
    page.get_by_role("link", name="Clear all").click()
    expect(page.locator(".pager")).to_contain_text("56 decisions")
    page.locator("a[rel=next]").click()
    page.get_by_role("link", name=written.title).click()
    expect(page.locator("h1")).to_have_text(written.title)


def test_a_decision_is_written_and_edited(visit, plain, curator_user, project):
    page = plain("/p/shop/decisions/", curator_user)
    page.get_by_role("link", name="New decision").click()
    page.get_by_role("button", name="Record the decision").click()
    expect(page.locator("#id_title")).to_have_attribute("aria-invalid", "true")
    page.locator("#id_title").fill("Queue mails")
    page.locator("#id_decision").fill("In a table.")
    page.get_by_role("button", name="Record the decision").click()
    expect(page.locator("h1")).to_have_text("Queue mails")
    page.get_by_role("link", name="Edit").click()
    page.locator("#id_title").fill("Queue mails in a table")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Queue mails in a table")
    expect(page.locator(".toast")).to_contain_text("Saved")
    visit.forgive("status of 422")


def test_a_memory_is_approved_rejected_with_a_reason_and_archived(plain, curator_user, written):
    page = plain(f"/p/shop/decisions/{written.pk}/", curator_user)
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".page-header .badges")).to_contain_text("reviewed")
    page.get_by_role("link", name="Reject…").click()
    page.wait_for_url("**/review/?state=rejected")
    expect(page.locator("[name=state]")).to_have_value("rejected")
    page.locator("[name=reason]").fill("A guess.")
    page.locator("main button.primary").click()
    expect(page.locator(".page-header .badges")).to_contain_text("memory rejected")
    assert Revision.objects.filter(verb="reject", reason="A guess.").exists()
    page.get_by_role("link", name="Archive…").click()
    page.locator("main button.primary").click()
    expect(page.locator(".page-header .badges")).to_contain_text("archived")
    page.get_by_role("button", name="Restore", exact=True).click()
    assert Decision.objects.get(pk=written.pk).archived_at is None


def test_the_status_is_changed_on_a_page_of_its_own(plain, curator_user, written):
    page = plain(f"/p/shop/decisions/{written.pk}/", curator_user)
    page.get_by_role("link", name="Status…").click()
    page.locator("#id_status").select_option("deprecated")
    page.locator("[name=reason]").fill("No longer.")
    page.locator("main button.primary").click()
    expect(page.locator(".page-header .badges")).to_contain_text("deprecated")


def test_confidence_is_typed_and_votes_are_buttons(plain, curator_user, agent, project):
    pattern = create_pattern(actor=agent, project=project, category="caching", name="Cache-aside")
    page = plain(f"/p/shop/patterns/{pattern.pk}/", curator_user)
    expect(page.locator("#confidence-slider")).to_be_hidden()
    page.locator("#confidence-number").fill("0.82")
    page.locator("#confidence-reason").fill("Seen to work.")
    page.get_by_role("button", name="Adjust the confidence").click()
    expect(page.locator(".toast")).to_contain_text("is now 0.82")
    page.get_by_role("button", name="It failed").click()
    assert Pattern.objects.get(pk=pattern.pk).failed_count == 1


def test_a_pitfall_is_met_again_and_made_severe(plain, curator_user, agent, project):
    pitfall = create_pitfall(
        actor=agent, project=project, category="caching", title="Stampede", severity="low"
    )
    page = plain(f"/p/shop/pitfalls/{pitfall.pk}/", curator_user)
    page.get_by_role("button", name="Met again").click()
    expect(page.locator("#encounters-title")).to_have_text("Met 2 times")
    page.get_by_role("link", name="Severity…").click()
    page.locator("#id_severity").select_option("critical")
    page.locator("[name=reason]").fill("It took the shop down.")
    page.locator("main button.primary").click()
    expect(page.locator(".page-header .badges")).to_contain_text("critical")


def test_the_graph_page_is_its_table(plain, viewer_user, agent, project, written):
    other = create_decision(actor=agent, project=project, title="Redis for sessions", decision="d")
    for one, two in ((written, other), (other, written)):
        Similarity.objects.create(project_id=project.pk, source=one.node_id, target=two.node_id, score=0.81)
    page = plain(f"/p/shop/decisions/{written.pk}/", viewer_user)
    page.get_by_role("link", name="Neighbourhood").click()
    row = page.locator("[data-graph-rows] tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("0.81")
    expect(page.locator("[data-graph-canvas]")).to_be_hidden()


def test_a_token_is_made_and_revoked_on_the_project_page(plain, admin_user, project):
    page = plain("/p/shop/project/", admin_user)
    page.locator("#token-form [name=name]").fill("on ci")
    page.locator("#token-form [name=agent_name]").fill("order-bot")
    page.get_by_role("button", name="Make the token").click()
    assert re.search(r"mdk_\S{20,}", page.locator("main").inner_text())
    page.goto("/p/shop/project/")
    assert not re.search(r"mdk_\S{20,}", page.locator("main").inner_text()), "shown a second time"
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator("[aria-labelledby=tokens-title] tbody tr")).to_contain_text("revoked")


def test_one_signs_in_and_out(plain, viewer_user, project):
    page = plain("/p/shop/decisions/")
    assert "/login/?next=" in page.url
    page.get_by_label("Username").fill("vera")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("h1")).to_have_text("Decisions")
    page.locator(".menu-end > summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("h1")).to_have_text("Signed out")
    page.goto("/p/shop/decisions/")
    assert "/login/?next=" in page.url

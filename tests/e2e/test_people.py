"""Accounts, invitations, saved filters and what came since, in a browser."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from curation.saved.actions import save_filter
from curation.saved.digest import unsubscribe_text
from decisions.actions import create_decision
from projects import accounts, invitations
from projects.access import OPERATOR
from projects.manager import Manager
from projects.models import User
from tests.e2e.test_every_page import Look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COMMAND = Manager(name="test", access=OPERATOR, channel="command")
WIDE = {"width": 1280, "height": 800}


def test_pages_of_accounts_and_of_saved_filters_are_whole(visit, project, agent, viewer_user, admin_user):
    create_decision(actor=agent, project=project, title="Use Redis", decision="Yes.", tags=["redis"])
    operator = User.objects.create_superuser("olga")
    for name in ("About Redis", "x" * 100):
        save_filter(user=operator, project=project, page="decisions:list", query="tag=redis", name=name)
    look = Look(visit("/signed-out/", operator, viewport=WIDE, color_scheme="light"))
    page = look.page
    look.open("accounts", "/accounts/")
    page.locator("[action$='/reset/'] button").first.click()
    page.get_by_text("/password/reset/").first.wait_for()
    look.at("a new password's link")
    look.open("preferences", "/account/")
    look.open("saved filters", "/p/shop/saved/")
    page.locator("[action$='/feed/'] button").first.click()
    page.get_by_text("/feed/").first.wait_for()
    look.at("a feed's address")
    look.open("a list with saved filters", "/p/shop/decisions/?tag=redis")
    page.goto("/p/shop/project/")
    page.locator("summary", has_text="Invite by a link").click()
    page.locator("#invitation-form button.primary").click()
    page.get_by_text("/invitation/").first.wait_for()
    look.at("an invitation's link")
    assert look.wrong == {}
    _made, text = invitations.invite(by=COMMAND, project=project, role="curator")
    outside = Look(visit("/signed-out/", viewport=WIDE, color_scheme="light"))
    outside.open("an invitation", f"/invitation/{text}/")
    outside.open("no invitation", f"/invitation/{'x' * 43}/", status=410)
    outside.open("a password to set", accounts.reset_link(by=COMMAND, user=viewer_user))
    outside.open("the way out of the digest", f"/unsubscribe/{unsubscribe_text(viewer_user)}/")
    assert outside.wrong == {}
    visit.forgive("status of 410")


def test_who_is_invited_makes_an_account_and_is_in(visit, project):
    _made, text = invitations.invite(by=COMMAND, project=project, role="viewer")
    page = visit(f"/invitation/{text}/")
    page.locator("[name=username]").fill("nina")
    page.locator("[name=password]").fill("a staple and a battery")
    page.locator("[name=again]").fill("a staple and a battery")
    page.locator("#join-form button.primary").click()
    expect(page.locator(".page-header h1")).to_have_text("Shop")
    assert urlsplit(page.url).path == "/p/shop/"


def test_what_came_since_is_offered_beside_the_list_and_moves_nothing(visit, project, agent, curator_user):
    create_decision(actor=agent, project=project, title="First", decision="x")
    page = visit("/signed-out/", curator_user)
    page.clock.install()
    page.goto("/p/shop/decisions/")
    row = page.locator("[data-row]").first
    row.locator("[data-open]").focus()
    before = row.bounding_box()
    create_decision(actor=agent, project=project, title="Second", decision="x")
    page.clock.fast_forward(31_000)
    expect(page.locator("#fresh")).to_contain_text("1 new")
    assert row.bounding_box() == before
    assert page.locator("[data-row]").count() == 1, "nothing is put under the reader's cursor"
    expect(page.locator("#rail a", has_text="Decisions")).to_contain_text("2")
    page.locator("#fresh a").click()
    expect(page.locator("[data-row]")).to_have_count(2)
    expect(page.locator("#fresh")).to_be_empty()


def test_nothing_is_asked_while_nobody_looks(visit, project, agent, curator_user):
    create_decision(actor=agent, project=project, title="First", decision="x")
    page = visit("/signed-out/", curator_user)
    page.clock.install()
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/fresh/" in request.url else None)
    page.goto("/p/shop/decisions/")
    page.evaluate("() => Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.clock.fast_forward(120_000)
    page.wait_for_timeout(100)
    assert asked == []

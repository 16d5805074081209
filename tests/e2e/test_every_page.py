"""Every page there is, looked at by a machine: axe in both themes, nothing inline, no other host, narrow screens.

Made from the URLconf: a new page is taken along by itself.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from urllib.parse import urlencode

import axe_playwright_python
import pytest
from django.test import Client
from playwright.sync_api import expect

from decisions.actions import edit_decision
from decisions.models import Decision
from projects.login_links import login_link_for
from projects.models import User
from tests.e2e.world import filled
from tests.test_page_matrix import MANAGED, OUTSIDE, PAGES, address_of, page_routes

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
WIDE = {"width": 1280, "height": 800}
NARROW = (360, 320)
INLINE = re.compile(
    r"<script(?![^>]*\ssrc=)[^>]*>|<style\b|\sstyle\s*=\s*[\"']|\son[a-z]+\s*=\s*[\"']|javascript:", re.I
)
# Answers for scripts, and pages that only send on.
NOT_PAGES = {
    "graph:data",
    "graph:path",
    "records:node",
    "logout",
    "healthz",
    "login_link",
    "search_complete",
    "connect:seen",
    "desk:fresh",
    "inbox:pane",
    "runs:running",
    "feed",
    "mcp",
    "",
}
LISTS = ("decisions", "outcomes", "patterns", "pitfalls", "sessions", "runs")


class Look:
    """Looks at what a browser page shows; collects what is wrong by the name of the page."""

    def __init__(self, page):
        self.page, self.wrong, self.seen, self.with_axe = page, {}, [], True
        self.documents = []
        page.on("response", self._note)

    def _note(self, response):
        if response.request.is_navigation_request() and response.request.frame == self.page.main_frame:
            self.documents.append(response)

    def open(self, name, address, status=200):
        answer = self.page.goto(address)
        self.at(name)
        if answer.status != status:
            self.say(name, f"answered {answer.status}")

    def at(self, name):
        """What is shown now, whichever way one came here."""
        self.seen.append(name)
        self._document(name)
        self._accessible(name, "light")
        self.page.emulate_media(color_scheme="dark")
        self._accessible(name, "dark")
        self.page.emulate_media(color_scheme="light")
        for width in NARROW:
            self.page.set_viewport_size({"width": width, "height": 740})
            if (needed := self.page.evaluate("() => document.documentElement.scrollWidth")) > width:
                self.say(name, f"{needed} px wide at {width} px: {self._widest(width)}")
        self.page.set_viewport_size(WIDE)

    def say(self, name, what):
        self.wrong.setdefault(name, []).append(what)

    def _document(self, name):
        while self.documents and 300 <= self.documents[-1].status < 400:
            self.documents.pop()
        if not self.documents:
            return
        answer = self.documents[-1]
        self.documents.clear()
        policy = answer.header_value("content-security-policy") or ""
        if "default-src 'none'" not in policy or "unsafe-" in policy:
            self.say(name, f"policy {policy!r}")
        if found := INLINE.search(_without_text(answer.text())):
            self.say(name, f"inline {found[0]!r}")

    def _accessible(self, name, theme):
        if not self.with_axe:
            return
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.evaluate(AXE)
        found = self.page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
        for violation in found["violations"]:
            places = [" ".join(map(str, node["target"])) for node in violation["nodes"][:3]]
            self.say(name, f"axe, {theme}: {violation['id']} at {places}")

    def _widest(self, width):
        return self.page.evaluate(
            """(width) => [...document.querySelectorAll('body *')].filter((element) =>
                element.getBoundingClientRect().right > width + 1 && !element.closest('.table-wrap, pre, .rail, .tabs'))
                .slice(0, 3).map((element) => element.tagName + '.' + element.className)""",
            width,
        )


def _without_text(html):
    """Tags alone: what people and agents wrote stands between them, escaped."""
    return "\n".join(re.findall(r"<[^>]*>", html))


@pytest.fixture
def world(project, curator, agent, viewer_user, admin_user):
    return filled(project, curator, agent, viewer_user)


@pytest.fixture
def look(visit, admin_user, world):
    return Look(visit("/signed-out/", admin_user, viewport=WIDE, color_scheme="light"))


@pytest.mark.parametrize(
    "axe", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["fits", "accessible"]
)
def test_every_page_of_a_project(look, world, visit, axe):
    look.with_axe = axe
    routes = [
        route for route in page_routes()
        if route.name not in NOT_PAGES and "GET" in _methods(route.name)
    ]  # fmt: skip
    for route in routes:
        if route.name in OUTSIDE:
            continue
        query = urlencode(world["fields"].get(route.name, {}))
        look.open(route.name, address_of(route, "shop", world) + (f"?{query}" if query else ""))
    assert look.wrong == {}
    assert len(look.seen) > 35


def _methods(name):
    return MANAGED.get(name) or PAGES.get(name, ((), {"GET"}))[1]


def test_pages_in_their_other_states(look, world, visit):
    page, decisions = look.page, "/p/shop/decisions/"
    look.open("filters in force", f"{decisions}?review=unreviewed&show=all&tag=redis")
    page.locator("details.filters > summary").click()
    look.at("filters open")
    look.open("a wrong filter", f"{decisions}?status=nonsense&colour=red", status=422)
    look.open("no match", f"{decisions}?q=nothing-is-like-this")
    look.open("a hidden record", f"{decisions}{world['hidden'].pk}/")
    look.open("an archived record", f"{decisions}{world['archived'].pk}/")
    page.locator("[data-menu] > summary").last.click()
    look.at("the menu open")
    decision = f"{decisions}{world['keys']['decisions']}/"
    for name in ("status-dialog", "reject-dialog"):
        page.goto(decision)
        page.locator(f"[data-dialog={name}]").first.click()
        look.at(name)
    page.goto(decision)
    page.keyboard.press("?")
    look.at("the keys")
    page.goto(f"{decisions}new/")
    page.locator("main form button.primary").click()
    page.locator("[aria-invalid=true]").first.wait_for()
    look.at("an invalid form")
    look.open("the graph as a table", f"/p/shop/graph/?node={world['values']['node_id']}&view=table")
    look.open("the graph of nothing", "/p/shop/graph/?node=dec_999", status=404)
    assert look.wrong == {}
    visit.forgive("status of 422", "status of 404")


def test_what_a_save_can_lead_to(look, world, visit, curator):
    page, pk = look.page, world["keys"]["decisions"]
    page.goto(f"/p/shop/decisions/{pk}/edit/")
    page.locator("#id_title").fill("Mine")
    page.locator("#id_decision").fill("Mine too.")
    edit_decision(
        actor=curator,
        decision=Decision.objects.get(pk=pk),
        changes={"title": "Theirs", "decision": "Theirs."},
    )
    page.locator("#record-form button.primary").click()
    page.locator("#conflict").wait_for()
    look.at("conflict")
    page.locator("#conflict button.primary").click()
    page.locator(".toast").wait_for()
    look.at("saved, with its message")
    page.keyboard.press("a")
    expect(page.locator(".page-header")).not_to_contain_text("unreviewed")
    look.at("approved in place")
    page.goto("/p/shop/project/")
    if page.locator("#token-form button.primary").is_hidden():
        page.locator("summary", has_text="Make a token").click()
    page.locator("#token-form [name=name]").fill("on ci")
    page.locator("#token-form [name=agent_name]").fill("order-bot")
    page.locator("#token-form button.primary").click()
    page.get_by_text("mdk_").first.wait_for()
    look.at("a new token")
    assert look.wrong == {}
    visit.forgive("status of 409")


def test_lists_of_an_empty_project(visit, project, admin_user):
    look = Look(visit("/p/shop/", admin_user, viewport=WIDE))
    for name in ("", "project/", "graph/", *(f"{one}/" for one in LISTS)):
        look.open(f"empty {name}", f"/p/shop/{name}")
        if name.rstrip("/") in LISTS:
            assert look.page.locator(".empty").count() == 1
            assert look.page.locator(".empty").locator("a.btn, [data-copy-text]").count(), (
                f"{name}: no way on"
            )
    assert look.wrong == {}


def test_pages_of_no_project(visit, project, other_project, admin_user, viewer_user, stranger_user):
    look = Look(visit("/signed-out/", admin_user, viewport=WIDE))
    look.open("home", "/")
    look.open("password", "/password/")
    look.open("password changed", "/password/changed/")
    look.open("not here", "/p/nowhere/", status=404)
    look.open("a page that never was", "/what/", status=404)
    viewer = Look(visit("/", viewer_user, viewport=WIDE))
    viewer.open("not yours", "/p/shop/decisions/new/", status=403)
    viewer.open("as a viewer", "/p/shop/project/")
    nobody = User.objects.create_user("nora", password="correct horse battery")
    lonely = Look(visit("/", nobody, viewport=WIDE))
    lonely.at("in no project")
    operator = User.objects.create_superuser("olga", password="correct horse battery")
    boss = Look(visit("/", operator, viewport=WIDE))
    boss.at("projects")
    boss.open("a new project", "/projects/new/")
    visit.forgive("status of 404", "status of 403")
    assert look.wrong | viewer.wrong | lonely.wrong | boss.wrong == {}


def test_signing_in_and_what_can_go_wrong(visit, project, viewer_user):
    look = Look(visit("/login/", viewport=WIDE))
    look.at("sign in")
    page = look.page

    def try_password(password):
        page.get_by_label("Username").fill("vera")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_load_state()

    try_password("wrong")
    page.locator(".notice-bad").wait_for()
    look.at("a wrong password")
    link = login_link_for(viewer_user)
    look.open("a login link", re.sub(r"^https?://[^/]+", "", link))
    look.open("a spoilt link", "/login/abc/def-123/", status=page.goto("/login/abc/def-123/").status)
    look.open("signed out", "/signed-out/")
    page.goto("/login/")
    give_up_at = time.monotonic() + 60
    while page.get_by_label("Username").count() and time.monotonic() < give_up_at:
        try_password("wrong again")
    look.at("locked out")
    assert "Too many" in page.locator("h1").inner_text()
    visit.forgive("status of 429", "status of 404", "status of 410", "status of 422", "status of 403")
    assert look.wrong == {}


def test_a_form_of_an_earlier_session_is_refused_in_words(visit, project, viewer_user):
    page = visit("/password/", viewer_user, viewport=WIDE)
    look = Look(page)
    page.locator("main [name=csrfmiddlewaretoken]").evaluate("field => { field.value = 'x'.repeat(64); }")
    for field in page.locator("input[type=password]").all():
        field.fill("correct horse battery")
    page.locator("main button.primary").click()
    page.locator(".error-code").wait_for()
    look.at("a form too old")
    visit.forgive("status of 403")
    assert look.wrong == {}


def test_every_answer_that_is_no_page_carries_the_policy_too(project, viewer_user):
    client = Client()
    client.force_login(viewer_user, backend="django.contrib.auth.backends.ModelBackend")
    for address in (
        "/healthz",
        "/p/shop/graph/data?node=dec_1",
        "/p/shop/decisions/?format=csv",
        "/api/v1/me",
    ):
        policy = client.get(address).headers.get("Content-Security-Policy", "")
        assert "default-src 'none'" in policy, address
        assert "unsafe-" not in policy, address

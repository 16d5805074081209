"""The graph page in a browser: expand, filter, share, walk by keyboard, read as a table."""

import json
import math
import os
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from decisions.actions import create_decision, record_outcome, supersede
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from recall.models import Similarity
from records.links import link

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TITLES = [
    "Cache order totals in Redis for 60 s", "Money is never served from a cache", "Redis for session tokens",
    "Covering index on order_lines", "Read the ledger from the primary", "Invalidate by event, not by time",
    "One writer for balances", "Keep carts in the database", "Rate limits in Redis", "Queue work in Postgres, not Redis",
]  # fmt: skip


@pytest.fixture
def shop(project, curator, agent):
    """A center with eleven neighbours; around its first likeness sixteen more, one hop further out."""
    made = [create_decision(actor=curator, project=project, title=title, decision="d") for title in TITLES]
    center = made[0]
    pitfall = create_pitfall(
        actor=agent, project=project, category="caching", title="Stampede on expiry", severity="critical"
    )
    pattern = create_pattern(
        actor=agent, project=project, category="caching", name="Cache-aside with a lease"
    )
    link(center, "CONTRADICTS", made[1], actor=curator)
    supersede(actor=curator, decision=made[3], by=center)
    record_outcome(actor=curator, decision=made[2], type="outage", success_rate=0.1)
    record_outcome(actor=curator, decision=center, type="success", success_rate=0.97)
    far = [
        create_decision(actor=curator, project=project, title=f"Further decision {number}", decision="d")
        for number in range(16)
    ]
    alike(
        project,
        center,
        {made[2]: 0.66, pitfall: 0.81, pattern: 0.74, made[4]: 0.71, made[5]: 0.62, made[6]: 0.55},
    )
    alike(project, made[5], {other: 0.95 - 0.01 * at for at, other in enumerate(far)})
    alike(project, made[1], {made[4]: 0.79, made[7]: 0.7, made[8]: 0.68, made[9]: 0.63})
    return {"center": center, "made": made, "far": far, "pitfall": pitfall}


def alike(project, center, scores):
    for other, score in scores.items():
        for source, target in ((center, other), (other, center)):
            Similarity.objects.create(
                project_id=project.pk, source=source.node_id, target=target.node_id, score=score
            )


POSITIONS = "() => Object.fromEntries(memoryGraph.nodes().map((node) => [node.id(), {...node.position()}]))"
IDS = "() => memoryGraph.nodes().map((node) => node.id()).sort()"


def positions(page):
    return page.evaluate(POSITIONS)


def drawn(page):
    return page.evaluate(IDS)


def settled(page, count=None):
    """Wait until the picture stands, with this many nodes."""
    page.wait_for_function(
        "(count) => window.memoryGraph && memoryGraph.nodes().length && (count === null || memoryGraph.nodes().length === count)"
        " && !document.querySelector('[data-graph-canvas]').hasAttribute('aria-busy')"
        " && !document.querySelector('[data-graph-count]').textContent.includes('…')",
        arg=count,
    )


def address(center, **more):
    query = "&".join(f"{key}={value}" for key, value in more.items())
    return f"/p/shop/graph/?node={center.node_id}" + (f"&{query}" if query else "")


def keep_picture(page, name):
    if folder := os.environ.get("SCREENSHOTS"):
        page.wait_for_timeout(500)
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def test_expanding_leaves_every_old_node_where_it_is(visit, shop, viewer_user):
    page = visit(address(shop["center"], depth=1), viewer_user)
    settled(page)
    before = positions(page)
    hub = shop["made"][5].node_id
    assert hub in before
    page.evaluate("(id) => memoryGraph.getElementById(id).emit('tap')", hub)
    page.keyboard.press("x")
    settled(page, len(before) + 15)
    after = positions(page)
    assert {node: after[node] for node in before} == before
    fresh = [after[node] for node in after if node not in before]
    assert all(math.isfinite(place["x"]) for place in fresh)
    near = [math.dist(one.values(), two.values()) for at, one in enumerate(fresh) for two in fresh[at + 1 :]]
    assert min(near) > 15, "new nodes lie on each other"
    page.keyboard.press("c")
    settled(page, len(before))
    assert positions(page) == before


def test_an_address_brings_the_same_picture_back(visit, shop, viewer_user):
    page = visit(address(shop["center"], depth=1, score="0.60"), viewer_user)
    settled(page)
    hub, first = shop["made"][5].node_id, len(drawn(page))
    page.evaluate("(id) => memoryGraph.getElementById(id).emit('tap')", hub)
    page.keyboard.press("x")
    settled(page, first + 15)
    shared = page.evaluate("() => location.pathname + location.search")
    assert f"expand={hub}" in shared
    other = visit(shared, viewer_user)
    settled(other, first + 15)
    assert positions(other) == positions(page)
    assert other.locator("[data-side-id]").text_content() == hub
    page.reload()
    settled(page, first + 15)
    assert positions(page) == positions(other)


def test_filters_change_picture_table_and_address_together(visit, shop, viewer_user):
    page = visit(address(shop["center"], depth=1, score="0.50"), viewer_user)
    settled(page)
    everything, unlike = len(drawn(page)), shop["made"][6].node_id
    assert unlike in drawn(page)
    page.fill("#graph-score", "0.70")
    page.wait_for_function("() => location.search.includes('score=0.70')")
    settled(page, everything - 3)
    page.locator("label.chip", has=page.locator("input[value=SIMILAR_TO]")).click()
    settled(page, 4)
    rows = page.locator("[data-graph-rows] tr").all_inner_texts()
    assert len(rows) == 3 or page.locator("[data-graph-rows] tr").count() == 3
    page.locator("label.chip", has=page.locator("input[value=outcome]")).click()
    settled(page, 3)
    assert "kind=" in page.url
    assert "relation=SIMILAR_TO" not in page.url


def test_the_keyboard_reaches_selects_expands_and_opens(visit, shop, viewer_user):
    page = visit(address(shop["center"], depth=1), viewer_user)
    settled(page)
    canvas = page.locator("[data-graph-canvas]")
    canvas.focus()
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("Tab")
    focused = page.evaluate("() => memoryGraph.nodes('.focused').map((node) => node.id())")
    assert len(focused) == 1
    page.keyboard.press("Enter")
    assert page.locator("[data-side-id]").text_content() == focused[0]
    assert page.locator("[data-graph-live]").text_content()
    page.keyboard.press("p")
    assert page.locator("[data-act=pin]").get_attribute("aria-pressed") == "true"
    for _ in range(40):
        page.keyboard.press("Tab")
        if not page.evaluate("() => document.activeElement.matches('[data-graph-canvas]')"):
            break
    assert not page.evaluate("() => document.activeElement.matches('[data-graph-canvas]')"), (
        "the focus is held captive"
    )
    with page.expect_navigation():
        page.keyboard.press("o")
    assert "/graph/" not in page.url


def test_the_side_panel_says_what_is_selected(visit, shop, viewer_user):
    page = visit(address(shop["center"], depth=1), viewer_user)
    settled(page)
    side = page.locator("[data-graph-side]")
    assert side.locator("h2").first.inner_text() == TITLES[0]
    assert "contradicts" in side.inner_text()
    side.get_by_role("button", name=TITLES[1]).click()
    assert side.locator("[data-side-id]").inner_text() == shop["made"][1].node_id
    side.get_by_text("Centre here").click()
    page.wait_for_url(f"**node={shop['made'][1].node_id}**")
    settled(page)
    assert page.locator("h1").inner_text().startswith(f"Around {shop['made'][1].node_id}")


def test_the_way_between_two_records(visit, shop, viewer_user):
    page = visit(address(shop["center"], depth=1, cap=4), viewer_user)
    settled(page)
    page.keyboard.press("t")
    page.fill("#graph-path-to", shop["far"][2].node_id)
    page.keyboard.press("Enter")
    page.wait_for_function("() => memoryGraph.nodes('.on-path').length === 3")
    assert "Path in 2 steps" in page.locator("[data-graph-note]").inner_text()


def test_the_table_says_the_same_with_and_without_scripts(visit, shop, viewer_user):
    page = visit(address(shop["center"], depth=2), viewer_user)
    settled(page)
    page.locator("[data-act=table]").click()
    assert page.locator("[data-graph-rows] tr").first.is_visible()
    assert not page.locator("[data-graph-canvas]").is_visible()
    with_scripts = page.locator("[data-graph-rows] tr").all_inner_texts()
    assert "view=table" in page.url
    plain = visit(address(shop["center"], depth=2), viewer_user, java_script_enabled=False)
    without = plain.locator("[data-graph-rows] tr").all_inner_texts()
    assert sorted(with_scripts) == sorted(without)
    assert not plain.locator("[data-graph-canvas]").is_visible()
    plain.locator("label.chip", has=plain.locator("input[value=SIMILAR_TO]")).click()
    plain.get_by_role("button", name="Apply").click()
    assert 0 < plain.locator("[data-graph-rows] tr").count() < len(without)


def test_what_agents_wrote_stays_text(visit, shop, viewer_user, agent, project, curator):
    evil = '<img src=x onerror="document.title=1">"\'{{x}}'
    made = create_decision(actor=agent, project=project, title=evil, decision="d")
    link(shop["center"], "CONTRADICTS", made, actor=curator)
    page = visit(address(shop["center"], depth=1, selected=made.node_id), viewer_user)
    settled(page)
    assert page.locator("[data-side-title]").inner_text() == evil
    assert page.locator("main img").count() == 0


def test_an_expansion_that_cannot_be_read_says_so_and_keeps_the_picture(visit, shop, viewer_user):
    page = visit(address(shop["center"], depth=1), viewer_user)
    settled(page)
    before = positions(page)
    page.route("**/graph/data*", lambda route: route.abort())
    page.evaluate("(id) => memoryGraph.getElementById(id).emit('tap')", shop["made"][5].node_id)
    page.keyboard.press("x")
    page.wait_for_selector("[data-graph-note]:not([hidden])")
    assert positions(page) == before
    assert all("ERR_FAILED" in trouble for trouble in visit.troubles)
    visit.troubles.clear()


def test_the_saved_json_is_what_is_drawn(visit, shop, viewer_user):
    page = visit(address(shop["center"], depth=1), viewer_user)
    settled(page)
    with page.expect_download() as download:
        page.locator("[data-act=json]").click()
    saved = json.loads(Path(download.value.path()).read_text())
    assert sorted(node["id"] for node in saved["nodes"]) == drawn(page)
    with page.expect_download() as picture:
        page.locator("[data-act=png]").click()
    assert Path(picture.value.path()).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1320, 800), (360, 740)])
def test_axe_finds_nothing_and_nothing_overflows(visit, shop, viewer_user, scheme, width, height):
    look = {"color_scheme": scheme, "viewport": {"width": width, "height": height}}
    pages = {
        "picture": address(shop["center"], depth=2, score="0.60"),
        "table": address(shop["center"], depth=2, view="table"),
        "absent": "/p/shop/graph/?node=dec_9999",
        "wrong": "/p/shop/graph/?depth=9",
    }
    for name, path in pages.items():
        page = visit(path, viewer_user, **look)
        if name in ("picture", "table"):
            settled(page)
        keep_picture(page, f"graph-{name}-{scheme}-{width}")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width, name
        # The console tells of a 400 and a 404 page; these two are meant.
        visit.troubles[:] = [trouble for trouble in visit.troubles if "status of 40" not in trouble]
        found = Axe().run(page)
        assert found.response["violations"] == [], (name, found.generate_report())

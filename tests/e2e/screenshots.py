"""Pictures of every page, from a desk that is started for them: `python -m tests.e2e.screenshots FOLDER [--readme]`.

Each page in light, in dark and 360 px wide. `--readme` makes the three of the README, in docs/pictures.
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.browser import ARGUMENTS
from tests.e2e.real_desk import TOP, RealDesk, running_desk

LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1320, "height": 860}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1320, "height": 860}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
}
README_BYTES = 300_000
MOST_NODES = 18
PICTURES = TOP / "docs" / "pictures"


def project_address(page: Page) -> str:
    """The demo's, from the menu of projects."""
    page.goto("/")
    links = page.locator(".menu-list[aria-label=Projects] a")
    if not links.count():
        raise RuntimeError(f"No project in the menu of {page.url}, {page.title()}")
    return links.first.get_attribute("href") or ""


def addresses(page: Page) -> dict[str, str]:
    """The pages to take, found as a person finds them: by walking the links of the demo."""
    project = project_address(page)
    found = {"overview": project}
    for name in ("decisions", "patterns", "pitfalls", "sessions", "runs", "outcomes"):
        found[name] = f"{project}{name}/"
    found["inbox"] = f"{project}inbox/"
    for queue in ("stale", "conflicts", "duplicates"):
        found[f"inbox-{queue}"] = f"{project}inbox/?queue={queue}"
    alert = quote("The order totals are stale and the Redis cache is cold after a restart of db-2")
    found["incident-ask"] = f"{project}incident/"
    found["incident"] = f"{project}incident/?text={alert}"
    found["answers"] = f"{project}answers/"
    found["timeline"] = f"{project}timeline/"
    found["decision"] = project + _first(page, project, "[aria-labelledby=contradictions-title] a")
    found["decision-new"] = f"{project}decisions/new/"
    found["decision-edit"] = found["decision"] + "edit/"
    found["decision-supersede"] = found["decision"] + "supersede/"
    found["decision-outcome"] = found["decision"] + "outcome/"
    for name, one in {
        "outcome": "outcomes", "pattern": "patterns", "pitfall": "pitfalls", "session": "sessions", "run": "runs",
    }.items():  # fmt: skip
        found[name] = project + _first(page, found[one], "a.row-title")
    found["runs-filtered"] = f"{found['runs']}?status=failed&payload=host=db-2"
    found["failed-run"] = project + _first(page, f"{found['runs']}?status=failed", "a.row-title")
    node = page.goto(found["decision"]) and page.locator(".page-header .id").first.inner_text()
    found["decisions-filtered"] = f"{found['decisions']}?review=unreviewed&sort=oldest"
    found["decisions-wrong-filter"] = f"{found['decisions']}?status=nonsense"
    found["decisions-no-match"] = f"{found['decisions']}?q=nothingislikethis"
    found["search"] = f"{project}search/?q=redis+cache"
    found["search-help"] = f"{project}search/?q=redis+colour:red"
    asked = "text=The+cache+of+order+totals+in+Redis+is+cold+after+a+restart&budget=1200"
    found["recall"] = f"{project}recall/?{asked}"
    found["recall-ask"] = f"{project}recall/"
    found["recall-wrong"] = f"{project}recall/?{asked}&k=0&colour=red"
    found["history"] = f"{project}records/{node}/history/"
    found["belief"] = f"{project}r/{node}/belief/"
    found["as-of"] = f"{project}r/{node}/as-of/?at=last+month"
    found["changes"] = f"{project}history/"
    found["changes-filtered"] = f"{project}history/?verb=approve&when=last+60+days"
    found["changes-wrong-filter"] = f"{project}history/?when=someday"
    found["session-end"] = f"{found['session']}end/"
    page.goto(found["session"])
    named = quote(page.locator("h1").inner_text())
    found["written"] = f"{project}written/?session={named}"
    found["radius"] = f"{project}radius/?session={named}"
    found["radius-ask"] = f"{project}radius/"
    found["review"] = f"{project}records/{node}/review/?state=rejected"
    found["link"] = f"{project}records/{node}/link/"
    found["merge-into"] = f"{project}merge/?into={node}"
    page.goto(found["decisions"])
    others = [other for other in page.locator(".row .id").all_inner_texts() if other != node][:2]
    found["compare"] = f"{project}compare/?a={node}&b={others[0]}"
    found["merge"] = found["merge-into"] + "".join(f"&from={other}" for other in others)
    found["erase"] = f"{project}records/{node}/erase/"
    page.goto(found["patterns"])
    spare = page.locator(".row .id").last.inner_text()
    found["erase-spare"] = f"{project}records/{spare}/erase/"
    found["graph"] = f"{project}graph/?node={_best_connected(page, found['decisions'])}&depth=3&score=0.50"
    found["graph-table"] = f"{project}graph/?node={node}&view=table"
    found["connect"] = f"{project}connect/"
    found["project"] = f"{project}project/"
    found["saved-new"] = f"{project}saved/new/?page=decisions:list&query=tag%3Dredis"
    found["saved"] = f"{project}saved/"
    _save_a_filter(page, found["saved-new"])
    found["accounts"] = "/accounts/"
    found["account"] = "/account/"
    found["health"] = "/health/"
    found["api"] = "/api/"
    found["projects"] = "/"
    found["project-new"] = "/projects/new/"
    found["password"] = "/password/"
    found["not-here"] = "/p/nowhere/"
    return found


def _save_a_filter(page: Page, address: str) -> None:
    """So that the rail, the lists and the page of them have one to show."""
    page.goto(address)
    page.locator("[name=name]").fill("About Redis")
    page.locator("main button.primary").click()
    page.wait_for_load_state()


def _best_connected(page: Page, decisions: str) -> str:
    """The decision with the fullest neighbourhood that still reads as a picture."""
    page.goto(decisions)
    sizes = {}
    for node in page.locator(".row .id").all_inner_texts():
        asked = f"{decisions}../graph/data?node={node}&depth=3&score=0.50"
        sizes[node] = len(page.request.get(asked).json()["nodes"])
    readable = {node: size for node, size in sizes.items() if size <= MOST_NODES}
    return max(readable or sizes, key=lambda node: sizes[node])


def _first(page: Page, address: str, selector: str) -> str:
    """The rest of the address, below the project's, of the first such link."""
    page.goto(address)
    href = page.locator(selector).first.get_attribute("href")
    assert href is not None
    return href.split("/", 3)[3]


def dialog(name: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.locator(f"[data-dialog={name}]").first.click()
        page.locator(f"dialog#{name}").wait_for()

    return act


def shortcuts(page: Page) -> None:
    page.keyboard.press("?")
    page.locator("dialog#keys-dialog").wait_for()


def open_filters(page: Page) -> None:
    page.locator("details.filters > summary").click()


def stale_save(page: Page) -> None:
    """Two people edit at once: this page's save comes second."""
    page.locator("#id_title").fill(page.locator("#id_title").input_value() + " (mine)")
    with closing(page.context.new_page()) as other:
        other.goto(page.url)
        other.locator("#id_title").fill(other.locator("#id_title").input_value() + " (theirs)")
        other.get_by_role("button", name="Save").click()
        other.wait_for_load_state()
    page.get_by_role("button", name="Save").click()
    page.locator("#conflict").wait_for()


def invalid_form(page: Page) -> None:
    page.locator("form#record-form button.primary").click()
    page.locator("[aria-invalid=true]").first.wait_for()


def erase_for_good(page: Page) -> None:
    """The tombstone; it is there already when the picture is taken in the next look."""
    if page.locator("#id_confirm").count():
        page.locator("#id_reason").fill("It held a customer's telephone number.")
        page.locator("#id_confirm").fill(page.locator(".page-header .id").first.inner_text())
        page.locator("form#record-form button.primary").click()
    page.get_by_role("heading", name="Erased for good").wait_for()


# name of the picture -> (name of the page, what to do on it first)
ACTS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "decision-status": ("decision", dialog("status-dialog")),
    "decision-reject": ("decision", dialog("reject-dialog")),
    "shortcuts": ("decisions", shortcuts),
    "filters": ("decisions", open_filters),
    "invalid": ("decision-new", invalid_form),
    "conflict": ("decision-edit", stale_save),
    "erased": ("erase-spare", erase_for_good),
}


GRAPH_STANDS = (
    "() => document.querySelector('[data-graph-canvas]').checkVisibility() === false"
    " || !!(window.memoryGraph && memoryGraph.nodes().length"
    " && !document.querySelector('[data-graph-canvas]').hasAttribute('aria-busy'))"
)


def settle(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    give_up_at = time.monotonic() + 60
    while page.locator("[data-graph-canvas]").count() and time.monotonic() < give_up_at:
        if page.evaluate(GRAPH_STANDS):
            page.wait_for_timeout(2000)  # the last frames of its movement
            break
        page.wait_for_timeout(250)


def sign_in(page: Page, desk: RealDesk) -> None:
    page.goto(desk.login_link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda address: "/login/" not in address)


def await_embedding(page: Page) -> None:
    """The pictures show a desk at rest: everything embedded, similar records found."""
    give_up_at = time.monotonic() + 180
    while not page.locator(".state-ok, .state-good").count() and time.monotonic() < give_up_at:
        page.wait_for_timeout(1000)
        page.reload()


def take(page: Page, path: Path, whole: bool = True) -> None:
    settle(page)
    path.write_bytes(smaller(page.screenshot(full_page=whole)))


def smaller(png: bytes) -> bytes:
    """The same picture, its data deflated as far as zlib can: the browser compresses for speed."""
    at, chunks, data = 8, [], b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        name, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length
        if name == b"IDAT":
            data += body
        else:
            chunks.append((name, body))
    chunks.insert(len(chunks) - 1, (b"IDAT", zlib.compress(zlib.decompress(data), 9)))
    framed = (
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )
    return png[:8] + b"".join(framed)


def take_all(
    browser: Browser, desk: RealDesk, state: Any, found: dict[str, str], wanted: set[str], folder: Path
) -> None:
    """Every page, or the wanted ones, in every look."""

    def is_wanted(name: str) -> bool:
        return not wanted or name in wanted

    for look, options in LOOKS.items():
        context = browser.new_context(base_url=desk.url, storage_state=state, **options)
        page = context.new_page()
        for name in filter(is_wanted, found):
            page.goto(found[name])
            take(page, folder / f"{name}-{look}.png")
        for name in filter(is_wanted, ACTS):
            of, act = ACTS[name]
            page.goto(found[of])
            act(page)
            take(page, folder / f"{name}-{look}.png", whole=name in ("conflict", "invalid", "filters"))
        context.close()
        context = browser.new_context(base_url=desk.url, **options)
        page = context.new_page()
        signed_out = {"login": "/login/", "signed-out": "/signed-out/", "used-link": desk.login_link}
        for name in filter(is_wanted, signed_out):
            page.goto(signed_out[name])
            take(page, folder / f"{name}-{look}.png")
        context.close()


def empty_project(page: Page) -> dict[str, str]:
    page.goto("/projects/new/")
    page.locator("[name=name]").fill("Quiet")
    if page.locator("[name=slug]").count():
        page.locator("[name=slug]").fill("quiet")
    page.locator("main button.primary").click()
    page.wait_for_load_state()
    names = ("decisions", "patterns", "pitfalls", "sessions", "runs", "outcomes", "graph")
    pages = {f"empty-{name}": f"/p/quiet/{name}/" for name in names}
    return {"empty-overview": "/p/quiet/", "empty-project": "/p/quiet/project/", **pages}


def take_for_readme(browser: Browser, desk: RealDesk, state: Any, found: dict[str, str]) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, look in (("inbox", "light"), ("decision", "light"), ("graph", "dark")):
        context = browser.new_context(base_url=desk.url, storage_state=state, **LOOKS[look])
        page = context.new_page()
        page.goto(found[name])
        if page.locator(".strip form button").count():
            page.locator(".strip form button").click()
            page.wait_for_load_state()
            page.goto(found[name])
        path = PICTURES / f"{name}.png"
        take(page, path, whole=False)
        context.close()
        size = path.stat().st_size
        sys.stdout.write(f"{path.relative_to(TOP)}: {size / 1000:.0f} kB\n")
        if size > README_BYTES:
            raise SystemExit(f"{path} is larger than {README_BYTES / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="where the pictures go")
    parser.add_argument("--readme", action="store_true", help="those of the README, in docs/pictures")
    parser.add_argument("--only", default="", help="names of pages, between commas")
    arguments = parser.parse_args()
    if not arguments.readme and arguments.folder is None:
        parser.error("name a folder, or --readme")
    with (
        tempfile.TemporaryDirectory() as data,
        running_desk(Path(data)) as desk,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=ARGUMENTS
        )
        context = browser.new_context(base_url=desk.url)
        page = context.new_page()
        sign_in(page, desk)
        page.goto(project_address(page))
        await_embedding(page)
        found = addresses(page)
        state = context.storage_state()
        if arguments.readme:
            take_for_readme(browser, desk, state, found)
        if arguments.folder is not None:
            arguments.folder.mkdir(parents=True, exist_ok=True)
            found |= empty_project(page)
            wanted = set(filter(None, arguments.only.split(",")))
            take_all(browser, desk, state, found, wanted, arguments.folder)
        browser.close()


if __name__ == "__main__":
    main()

"""Pictures of a desk on MySQL and Neo4j, with Neo4j running, stopped and started again: `python -m
tests.e2e.graph_screenshots FOLDER [--docs]`. `--docs` copies those of docs/operations.md to docs/pictures.

Uses the MySQL that TEST_MYSQL_URL names (a database of its own) and a Neo4j of its own, which it stops at the end.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pymysql
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.browser import ARGUMENTS
from tests.e2e.real_desk import TOP, RealDesk, running_desk
from tests.e2e.screenshots import LOOKS, PICTURES, project_address, sign_in, take

DATABASE = "memory_desk_pictures"
NEO4J = ["--instance", "pictures"]
NEO4J_PORT = 7693
SECONDS = 180
IN_DOCS = {"health-stopped-light": "health", "decisions-stopped-light": "graph-away"}


def neo4j(verb: str) -> None:
    command = [sys.executable, str(TOP / "deploy/services/services"), verb, "neo4j", *NEO4J]
    subprocess.run([*command, *(["--port", str(NEO4J_PORT)] if verb == "start" else [])], check=True)


def fresh_database() -> str:
    """The URL of an empty database on the server of the tests."""
    server = urlsplit(os.environ["TEST_MYSQL_URL"])
    connection = pymysql.connect(
        host=server.hostname,
        port=server.port or 3306,
        user=server.username or "",
        password=server.password or "",
    )
    with connection, connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
    return server._replace(path=f"/{DATABASE}").geturl()


@contextmanager
def running_worker(settings: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "run_worker"], cwd=TOP, env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def until(page: Page, says: str, address: str = "/health/", selector: str = "main") -> None:
    """Look at the page until it says so."""
    give_up_at = time.monotonic() + SECONDS
    while True:
        page.goto(address)
        if says in page.locator(selector).inner_text():
            return
        if time.monotonic() > give_up_at:
            raise RuntimeError(f"{address} does not say {says!r} but:\n{page.locator(selector).inner_text()}")
        page.wait_for_timeout(500)


def write_decisions(page: Page, project: str, count: int) -> None:
    for number in range(count):
        page.goto(f"{project}decisions/new/")
        page.locator("#id_title").fill(f"Keep session tokens in Redis, shard {number + 1}")
        page.locator("#id_decision").fill("A shard a region, so that a lost one signs out one region alone.")
        page.locator("form#record-form button.primary").click()
        page.locator(".page-header .id").wait_for()


def count_now(page: Page) -> None:
    page.goto("/health/")
    counted_at = "() => document.querySelector('#counted time')?.dateTime || ''"
    before = page.evaluate(counted_at)
    page.locator("#counted button").click()
    page.wait_for_function(f"(before) => ({counted_at})() !== before", arg=before, timeout=SECONDS * 1000)


def pictures(
    browser: Browser, desk: RealDesk, state: Any, name: str, pages: dict[str, str], folder: Path
) -> None:
    for look, options in LOOKS.items():
        context = browser.new_context(base_url=desk.url, storage_state=state, **options)
        page = context.new_page()
        for of, address in pages.items():
            page.goto(address)
            take(page, folder / f"{of}-{name}-{look}.png", whole=of.startswith("health"))
        context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", action="store_true", help="keep those of docs/operations.md")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    neo4j("start")
    try:
        with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=ARGUMENTS
            )
            _with_a_desk(browser, Path(data), folder)
            browser.close()
    finally:
        neo4j("stop")
    if arguments.docs:
        for name, kept in IN_DOCS.items():
            shutil.copyfile(folder / f"{name}.png", PICTURES / f"{kept}.png")


def _with_a_desk(browser: Browser, data: Path, folder: Path) -> None:
    settings = {
        "DATABASE_URL": fresh_database(), "GRAPH_URL": f"bolt://127.0.0.1:{NEO4J_PORT}", "DATA_DIR": str(data),
    }  # fmt: skip
    for command in (["migrate", "-v0"], ["rebuild_graph"]):
        subprocess.run(
            [sys.executable, "manage.py", *command], cwd=TOP, env={**os.environ, **settings}, check=True
        )
    with running_desk(data, settings) as desk, running_worker(settings):
        page = browser.new_context(base_url=desk.url).new_page()
        sign_in(page, desk)
        project = project_address(page)
        until(page, "nothing waits")
        page.goto(f"{project}decisions/")
        first = page.locator("a.row-title").first.get_attribute("href") or ""
        pages = {
            "health": "/health/", "overview": project, "decisions": f"{project}decisions/", "decision": first,
            "graph": f"{project}graph/",
        }  # fmt: skip
        state = page.context.storage_state()
        count_now(page)
        pictures(browser, desk, state, "running", pages, folder)
        neo4j("stop")
        write_decisions(page, project, 12)
        until(page, "behind by 12")
        until(page, "behind by 12", project, ".banners")
        pictures(browser, desk, state, "stopped", pages, folder)
        count_now(page)
        pictures(browser, desk, state, "stopped-counted", {"health": "/health/"}, folder)
        neo4j("start")
        for _ in range(6):  # whichever process answers
            until(page, "nothing needs you")
        count_now(page)
        pictures(browser, desk, state, "started-again", pages, folder)


if __name__ == "__main__":
    main()

"""A real browser on the live server. Every visit is checked: nothing from another host, nothing the CSP had to stop."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client
from django.urls import get_resolver

from graph.worker_thread import WorkerThread
from tests.e2e.browser import ARGUMENTS

# Playwright's event loop runs in the tests' own thread, where Django would then refuse the ORM.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
SECONDS_TO_WAIT = 20


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory):
    """A file, as in use: the server's threads and the worker each have their own connection."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database.setdefault("TEST", {})["NAME"] = str(tmp_path_factory.mktemp("desk") / "test.sqlite3")


@pytest.fixture(scope="session")
def chromium():
    """The browser: CHROMIUM names its executable."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=SECONDS_TO_WAIT * 1000)
    get_resolver().check()  # a desk in use has imported its pages
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=ARGUMENTS
        )
        yield browser
        browser.close()


def session_cookie(user, live_server) -> dict[str, str]:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return {
        "name": settings.SESSION_COOKIE_NAME,
        "value": client.cookies[settings.SESSION_COOKIE_NAME].value,
        "url": live_server.url,
    }


@pytest.fixture
def visit(chromium, live_server):
    """visit(path, user=None, **context options) -> a Playwright page, signed in by session cookie.

    Options are those of `browser.new_context`: viewport, color_scheme, java_script_enabled, …
    `visit.forgive("status of 409")` says that a trouble with these words was meant to be.
    """
    contexts, troubles = [], []

    def watched(page):
        host = urlsplit(live_server.url).netloc
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: _check_host(request.url, host, troubles))
        return page

    def open_page(path, user=None, **options):
        context = chromium.new_context(base_url=live_server.url, **options)
        context.set_default_timeout(SECONDS_TO_WAIT * 1000)
        contexts.append(context)
        if user is not None:
            context.add_cookies([session_cookie(user, live_server)])
        page = watched(context.new_page())
        page.goto(path)
        return page

    def forgive(*words):
        troubles[:] = [trouble for trouble in troubles if not any(word in trouble for word in words)]

    open_page.troubles = troubles
    open_page.forgive = forgive
    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def _check_host(url, host, troubles) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("data", "blob") and parts.netloc != host:
        troubles.append(f"asked another host: {url}")


@pytest.fixture
def worker(transactional_db):
    """The desk's worker, in a thread as on SQLite in use: what is written becomes embedded."""
    thread = WorkerThread()
    thread.start()
    yield thread
    thread.stop(timeout=30)
    assert not thread.is_alive(), "the worker did not stop"

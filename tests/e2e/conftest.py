"""A real browser on the live server. Every visit is checked: nothing from another host, nothing the CSP had to stop."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client

# Playwright's event loop runs in the tests' own thread, where Django would then refuse the ORM.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def chromium():
    """The browser: CHROMIUM names its executable."""
    from playwright.sync_api import sync_playwright

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
        context.set_default_timeout(15_000)
        contexts.append(context)
        if user is not None:
            context.add_cookies([session_cookie(user, live_server)])
        page = watched(context.new_page())
        page.goto(path)
        return page

    open_page.troubles = troubles
    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def _check_host(url, host, troubles) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("data", "blob") and parts.netloc != host:
        troubles.append(f"asked another host: {url}")

"""What a newcomer's first page costs over the network, from the desk as `make run` starts it."""

import logging

import pytest

from tests.e2e.real_desk import running_desk
from tests.e2e.screenshots import project_address, sign_in

pytestmark = pytest.mark.browser
say = logging.getLogger("first page").info

REQUESTS = 8
BYTES = 120_000
UNPACKED = 160_000


class Traffic:
    """What a page asks for: addresses, bytes as sent (headers too) and as unpacked."""

    def __init__(self, page):
        self.asked, self.sent, self.unpacked = {}, 0, 0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        session.on("Network.requestWillBeSent", self._asked)
        session.on("Network.dataReceived", self._received)
        session.on("Network.loadingFinished", self._finished)

    def _asked(self, event):
        if not event["request"]["url"].startswith("data:"):
            self.asked[event["requestId"]] = event["request"]["url"]

    def _received(self, event):
        self.unpacked += event["dataLength"]

    def _finished(self, event):
        self.sent += int(event["encodedDataLength"])

    def of(self, page, address):
        self.asked, self.sent, self.unpacked = {}, 0, 0
        page.goto(address, wait_until="networkidle")
        return [url.partition("?")[0] for url in self.asked.values()]


def test_the_first_page_is_small_and_the_graph_library_waits_for_its_page(chromium, tmp_path):
    with running_desk(tmp_path) as desk:
        context = chromium.new_context(base_url=desk.url)
        page = context.new_page()
        sign_in(page, desk)
        project = project_address(page)
        traffic = Traffic(page)
        for name, address in {
            "overview": project,
            "decisions": f"{project}decisions/",
            "login": "/login/",
        }.items():
            asked = traffic.of(page, address)
            say(f"{name}: {len(asked)} requests, {traffic.sent} bytes sent, {traffic.unpacked} unpacked")
            assert len(asked) <= REQUESTS, (name, asked)
            assert traffic.sent <= BYTES, (name, traffic.sent)
            assert traffic.unpacked <= UNPACKED, (name, traffic.unpacked)
            assert not [url for url in asked if "cytoscape" in url or "fcose" in url]
        assert [url for url in traffic.of(page, f"{project}graph/") if "cytoscape" in url]
        context.close()

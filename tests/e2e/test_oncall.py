"""Two in the morning: from an alert to what was done the last time, on runs that the example agent really made."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from graph.worker_thread import drain
from runs.models import Run
from tests.conftest import make_token
from tests.examples.test_oncall_agent import AGENT
from tests.public_records import public_records
from transfer.importing.folders import find_files
from transfer.postmortems.reading import read_one_file

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LEFT_OUT = "2021-09-30-ssl-certificate-issue-browsers.html.md.erb"
LIKE_IT = "showing certificate"


class Person:
    """Counts what a person does: each paste, click and key."""

    def __init__(self, page):
        self.page, self.interactions = page, 0

    def paste(self, locator, text):
        self.interactions += 1
        locator.fill(text)

    def click(self, locator):
        self.interactions += 1
        locator.click()


@pytest.fixture
def alert(tmp_path, live_server, project):
    """The desk has the agent's runs on all incidents of one service but the last; that one is the alert."""
    folder = public_records() / "postmortems" / "ministryofjustice+cloud-platform" / "source" / "incidents"
    known = tmp_path / "known"
    shutil.copytree(folder, known)
    (known / LEFT_OUT).unlink()
    _, token = make_token(project)
    command = [sys.executable, str(AGENT), "--url", live_server.url, "--incidents", str(known)]
    environment = {"MEMORY_DESK_TOKEN": token, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert Run.objects.count() == len(list(known.iterdir())) > 20
    assert drain(timeout=120) == 0
    (file,) = find_files(folder / LEFT_OUT)
    (left_out,) = read_one_file(file)
    return json.dumps({"alert": left_out.title, "signal": left_out.signal})


def test_from_a_pasted_alert_to_the_tool_calls_of_a_similar_run(visit, curator_user, alert):
    page = visit("/p/shop/incident/", curator_user)
    person = Person(page)
    person.paste(page.get_by_label("The alert", exact=True), alert)
    person.click(page.get_by_role("button", name="Look", exact=True))
    similar = page.locator("ol.incidents > li")
    expect(similar).to_have_count(5)
    titles = similar.locator("h3").all_inner_texts()
    assert LIKE_IT in titles[0]

    # What was called in the best run stands open here; one click more, and it is there with inputs and outputs.
    best = similar.first.locator("h3 a")
    run = Run.objects.get(pk=re.search(r"/runs/([^/]+)/", best.get_attribute("href"))[1])
    names = [call["name"] for call in run.tool_calls]
    assert similar.first.locator("ol.calls b").all_inner_texts() == names
    person.click(best)
    expect(page.locator("ol.waterfall .call-name b")).to_have_text(names)
    assert person.interactions <= 3


def test_the_address_can_be_passed_on_and_says_the_same_in_markdown(visit, curator_user, viewer_user, alert):
    page = visit("/p/shop/incident/", curator_user)
    page.get_by_label("The alert", exact=True).fill(alert)
    page.get_by_role("button", name="Look", exact=True).click()
    page.wait_for_url(re.compile(r"/incident/[0-9a-f]+"))
    addresses = [link.get_attribute("href") for link in page.locator("ol.incidents h3 a").all()]
    assert len(addresses) == 5
    other = visit(page.url, viewer_user)
    assert [link.get_attribute("href") for link in other.locator("ol.incidents h3 a").all()] == addresses
    markdown = other.locator(".recall-markdown").inner_text()
    assert all(address in markdown for address in addresses)

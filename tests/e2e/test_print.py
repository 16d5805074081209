"""A print in black and white: the state of each record is told in words, on its page and in the list of all."""

from __future__ import annotations

import pytest

from records.erasing import erase
from records.sweep import sweep
from records.verbs import archive, review
from tests.conftest import person
from tests.e2e.test_every_page import WIDE, Look
from tests.records.samples import LISTS, list_url, make, page_of, write_as_sql

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WORDS = {
    "unreviewed": "unreviewed",
    "approved": "reviewed",
    "rejected": "memory rejected",
    "quarantined": "quarantined",
    "archived": "archived",
    "merged": "merged",
    "erased": "erased",
}
LISTED = [state for state in WORDS if state != "erased"]  # an erased one has no row


@pytest.mark.parametrize("kind", LISTS)
def test_each_state_is_told_without_a_colour(visit, project, agent, admin_user, kind):
    admin = person(admin_user)
    records = {state: make(kind, agent, project, title=f"One of {state}") for state in WORDS}
    for state in ("approved", "rejected", "quarantined"):
        review([records[state]], state, actor=admin, reason="So it is.")
    archive([records["archived"]], actor=admin)
    write_as_sql(records["merged"], merged_into=records["approved"].node_id)
    sweep()
    erase([records["erased"]], actor=admin, reason="A person asked us to.")

    page = visit(f"{list_url(kind)}?show=all", admin_user, viewport=WIDE)
    page.emulate_media(media="print")
    look = Look(page)
    look._accessible(f"{kind}s printed", "light")
    words = WORDS | ({"archived": "retired"} if kind == "pattern" else {})
    rows = {state: page.locator("li.row", has_text=f"One of {state}").first.inner_text() for state in LISTED}
    for state, text in rows.items():
        assert words[state] in text.lower().replace(f"one of {state}", ""), (state, text)
        page.goto(page_of(records[state]))
        head = page.locator("main").inner_text().lower().replace(f"one of {state}", "")
        assert words[state] in head, state
    page.goto(page_of(records["erased"]))
    assert "erased" in page.locator("main").inner_text().lower()
    visit.forgive("status of 410")
    assert look.wrong == {}

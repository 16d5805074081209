"""The drawn row of a queue."""

from __future__ import annotations

from curation.inbox.queues import Entry
from curation.templatetags.inbox_rows import inbox_row
from tests.records.test_drawn_rows import HOSTILE, row


def test_no_text_of_an_entry_becomes_markup():
    fields = {"title": HOSTILE, "node_id": HOSTILE, "kind_label": HOSTILE, "meta": [(HOSTILE, HOSTILE)]}
    entry = Entry(
        HOSTILE, row(**fields), [(HOSTILE, True), (HOSTILE, False)], other=row(**fields), value=HOSTILE
    )
    drawn = inbox_row(entry, HOSTILE, HOSTILE, HOSTILE, selectable=True)
    assert "<script" not in drawn
    assert drawn.count("&lt;script&gt;") >= 15
    assert drawn.count("{0}{title}") >= 15  # never taken for a place to fill


def test_only_what_can_be_done_in_bulk_has_a_box_and_only_the_open_entry_says_so():
    one = Entry("dec_1", row(), value="dec_1:3")
    assert 'name="record" value="dec_1:3"' in inbox_row(one, "/u", "/p", "dec_2", selectable=True)
    assert "<input" not in inbox_row(one, "/u", "/p", "dec_2")
    assert "<input" not in inbox_row(Entry("dec_1", row()), "/u", "/p", "dec_2", selectable=True)
    assert "aria-current" not in inbox_row(one, "/u", "/p", "dec_2")
    assert 'aria-current="true"' in inbox_row(one, "/u", "/p", "dec_1")


def test_that_all_of_a_queue_are_unreviewed_is_not_said_of_each():
    assert "unreviewed" not in inbox_row(Entry("dec_1", row()), "/u", "/p", "")
    assert "quarantined" in inbox_row(Entry("dec_1", row(review_state="quarantined")), "/u", "/p", "")

"""The drawn row of a list, and how it tells times."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from records.pages.rows import Row
from records.templatetags.records import record_row, time_element

HOSTILE = '"><script>alert(1)</script>{0}{title}'


def row(**fields):
    usual = {
        "node_id": "dec_1", "kind": "decision", "kind_label": "decision", "title": "Cache", "url": "/r/dec_1/",
        "when": None, "meta": [], "status": "accepted", "status_label": "accepted",
        "review_state": "unreviewed", "badges": [], "record": None,
    }  # fmt: skip
    return Row(**{**usual, **fields})


def test_no_text_of_a_row_becomes_markup():
    drawn = record_row(
        row(title=HOSTILE, meta=[(HOSTILE, HOSTILE), ("", HOSTILE)], why=HOSTILE, badges=[(HOSTILE, "mute")],
            status=HOSTILE, status_label=HOSTILE, kind_label=HOSTILE, url=HOSTILE, node_id=HOSTILE)
    )  # fmt: skip
    assert "<script" not in drawn
    assert drawn.count("&lt;script&gt;") >= 8
    assert drawn.count("{0}{title}") >= 8  # never taken for a place to fill


def test_a_long_id_is_shortened_and_told_whole_on_hover():
    drawn = record_row(row(node_id="run_" + "a" * 32))
    assert f'title="run_{"a" * 32}">run_aaaaaaaaa…</span>' in drawn
    assert ">dec_1</span>" in record_row(row())


@pytest.mark.parametrize(
    ("age", "told"),
    [
        (timedelta(seconds=20), "20 seconds ago"),
        (timedelta(hours=5), "5 hours ago"),
        (timedelta(days=5, hours=7), "5 days ago"),
        (timedelta(days=400), "1 year, 1 month ago"),
    ],
)
def test_old_times_are_told_in_whole_days(age, told):
    assert f">{told}</time>" in time_element(timezone.now() - age).replace("\xa0", " ")


def test_the_exact_time_is_told_in_the_readers_zone():
    moment = datetime.fromisoformat("2024-05-03T22:30:00+00:00")
    with timezone.override("Asia/Kolkata"):
        assert 'title="4 May 2024, 04:00 IST"' in time_element(moment)

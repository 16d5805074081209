"""Reading post-mortems: their parts, facts and times in every form; what is none breaks nothing and takes no time."""

from __future__ import annotations

import time

import pytest

from tests.transfer.postmortem_texts import DATA, HEADED, LABELLED
from transfer.postmortems.reading import read_postmortems
from transfer.postmortems.records import NotOne

pytestmark = [pytest.mark.django_db, pytest.mark.mysql]


def read(text: str, path: str = "one.md"):
    (one,) = read_postmortems(text.encode(), path)
    return one


def test_headings_are_parts_and_code_is_none():
    one = read(HEADED)
    assert one.title == "Checkout was down"
    assert "Nobody watched the queue." in one.texts["cause"]
    assert "# Impact: not a heading" in one.texts["cause"]
    assert "impact" not in one.texts
    assert "The rollback took a minute." in one.prevention
    assert one.steps == []
    assert (one.severity, "no severity is written: medium" in one.said) == ("medium", True)


def test_lines_and_tables_name_parts_too():
    text = "Title: x\n\n# Disk full\n\n| Severity | P1 |\n| --- | --- |\n| Date | 2024-02-03 |\n\nImpact: slow pages\nRoot cause: logs\n"
    one = read(text)
    assert (one.severity, one.severity_written) == ("critical", "P1")
    assert one.started.date().isoformat() == "2024-02-03"
    assert one.texts["cause"] == "logs"


UNMARKED = """Postmortem: Outage on September 20th, 2024 (UTC)

Issue Summary
Duration:
It went from 10:05 AM to 11:45 AM UTC.

Impact:
Pages took ten seconds.

Root Cause:
The connection pool was too small.

Root Cause and Resolution

Resolution:
We raised it with `psql -c 'ALTER SYSTEM'`.

Corrective and Preventative Measures

- **Impact checks:** Look at the pool every day.
"""
QUOTED = """> **Incident ID:** INC-12 | **Severity:** P1 (Critical) | **Status:** resolved
> **Date:** 2025-08-22
> **Time:** 14:30 UTC - 15:45 UTC

# \N{DIRECT HIT} Post-Mortem: Payments ran out of connections

## \N{BRAIN} Impact
* 8,000 users

## 3. Root Cause
A leak.
"""


def test_lines_that_are_headings_without_a_mark_open_parts():
    one = read(UNMARKED)
    assert one.title == "Pages took ten seconds."
    assert (one.started.isoformat(), one.ended.isoformat()) == (
        "2024-09-20T10:05:00+00:00", "2024-09-20T11:45:00+00:00",
    )  # fmt: skip
    assert one.texts["impact"] == "Pages took ten seconds."
    assert one.prevention.endswith("- **Impact checks:** Look at the pool every day.")
    assert [step.command for step in one.steps] == ["psql -c 'ALTER SYSTEM'"]


def test_quoted_labels_and_several_in_a_line_are_facts():
    one = read(QUOTED)
    assert one.title == "Payments ran out of connections"
    assert (one.severity, one.severity_written) == ("critical", "P1 (Critical)")
    assert (one.started.isoformat(), one.ended.isoformat()) == (
        "2025-08-22T14:30:00+00:00", "2025-08-22T15:45:00+00:00",
    )  # fmt: skip
    assert one.texts["cause"] == "A leak."
    assert one.whole.count("INC-12") == one.whole.count("resolved") == 1


@pytest.mark.parametrize(
    ("written", "began", "over"),
    [
        ("2025-01-02 10:00 to 11:30", "10:00", "11:30"),
        ("January 2, 2025, 10:00 AM EST - 12:30 PM EST", "15:00", "17:30"),
        ("2025-01-02T10:00:05+02:00", "08:00", None),
        ("2025-01-02 1015", "10:15", None),
        ("2025-01-02 25:00", "00:00", None),
        ("2025-01-02, 3 people", "00:00", None),
    ],
)
def test_times_in_many_words(written, began, over):
    one = read(f"# Full\n\n**Date:** {written}\n\n## Impact\n\nx\n\n## Root cause\n\ny\n")
    assert (one.started.strftime("%d %H:%M"), one.ended and one.ended.strftime("%H:%M")) == (
        f"02 {began}",
        over,
    )


def test_times_that_cannot_be_are_said_and_left_out():
    one = read(LABELLED.replace("Resolved 2024-03-15", "Resolved 2024-03-14"))
    assert (one.started.year, one.ended) == (2024, None)
    assert any("before it began" in said for said in one.said)
    assert read(DATA.replace("2024-05-06", "2999-01-01"), "a.yaml").started is None


@pytest.mark.parametrize(
    "text", ["---", "**", "|a|b|", "# " * 900, "```", "<% %>", "\x00", "a: b: c", "%YAML 9"]
)
def test_no_text_breaks_a_form(text):
    for path in ("a.md", "a.yaml", "a.html.md.erb"):
        with pytest.raises(NotOne):
            read_postmortems(text.encode(), path)


@pytest.mark.parametrize(
    "unit", ["```a\n", "**a", "- **Impact**: a\n", "> ", " ", "<%", "<!--", "[a](", "# a\n", "`a` ", "| a "]
)
def test_no_text_takes_long(unit):
    text = "# Full\n\n## Impact\n\nx\n\n## Resolution\n\ny\n\n" + unit * (100_000 // len(unit))
    began = time.process_time()
    assert read(text).title == "Full"
    assert time.process_time() - began < 8

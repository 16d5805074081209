"""Reading single records: each form metadata is written in, titles, statuses, dates, parts."""

from __future__ import annotations

from datetime import date

import pytest

from transfer.adr.parse import parse_file
from transfer.adr.records import ParsedRecord


def read(text: str, path: str = "docs/adr/0007-choose-a-queue.md") -> ParsedRecord:
    parsed = parse_file(text.encode(), path)
    assert parsed.kind == "record", parsed.why
    return parsed.records[0]


FORMS = {
    "Nygard section": "# 7. Choose a queue\n\nDate: 2021-03-04\n\n## Status\n\nAccepted\n\n## Context\n\nx\n",
    "MADR 2 bullets": "# Choose a queue\n\n* Status: accepted\n* Deciders: Ann, Bo\n* Date: 2021-03-04\n\n## Context and Problem Statement\n\nx\n",
    "MADR 3 front matter": "---\nstatus: accepted\ndate: 2021-03-04\ndeciders: Ann, Bo\n---\n\n# Choose a queue\n\n## Decision Outcome\n\nx\n",
    "TOML front matter": '+++\nstatus = "accepted"\ndate = 2021-03-04\n+++\n\n# Choose a queue\n\nx\n',
    "bold labels": "# ADR-007: Choose a queue\n\n**Status:** Accepted  \n**Date:** 4 March 2021\n\n## Context\n\nx\n",
    "table down": "# Choose a queue\n\n| | |\n|--|--|\n| Date | 2021-03-04 |\n| Status | Accepted |\n\n## Decision\n\nx\n",
    "table across": "# Choose a queue\n\n| Status | Date | Author |\n|---|---|---|\n| Accepted | 2021-03-04 | Ann |\n\n## Decision\n\nx\n",
    "quoted table": "# Choose a queue\n\n>| | |\n>|--|--|\n>| Date | `2021-03-04` |\n>| Status | `Accepted` |\n\n## Decision\n\nx\n",
    "quoted lines": "# Choose a queue\n\n> Status: accepted\n> Date: 2021-03-04\n\n## Decision\n\nx\n",
    "change log": "# RFC 7: Choose a queue\n\n## Changelog\n\n- 2021-02-01: First draft\n- 2021-03-04: Marked as accepted\n\n## Status\n\nAccepted\n",
    "dated statuses": "# 7. Choose a queue\n\n## Status\n\n2021-02-01 proposed\n\n2021-03-04 accepted\n\n## Context\n\nx\n",
    "status in the heading": "# 7. Choose a queue\n\n## Status: Accepted (2021-03-04)\n\n## Context\n\nx\n",
    "Chinese": "# 7. Choose a queue\n\n日期：2021年3月4日\n\n## 状态\n\n列表：提议/通过/完成/已弃用/已取代\n\n2021-02-01 提议\n\n2021-03-04 通过\n\n## 背景\n\nx\n",
    "Japanese": "# ADR-0007: Choose a queue\n\n日付: 2021-03-04\nステータス: 承認済み\n\n## コンテキスト\n\nx\n",
    "Portuguese": "# 7. Choose a queue\n\nData: 04 de março de 2021\n\n## Status\n\nAceito\n\n## Contexto\n\nx\n",
    "Spanish": "# 7. Choose a queue\n\nFecha: 4 de marzo de 2021\n\n## Estado\n\nAceptada\n\n## Contexto\n\nx\n",
    "German": "# 7. Choose a queue\n\n**Datum**: 4. März 2021\n\n## Status\n\nAngenommen\n\n## Kontext\n\nx\n",
    "French": "# 7. Choose a queue\n\nDate : 4 mars 2021\n\n## Statut\n\nAcceptée\n\n## Contexte\n\nx\n",
    "Russian": "# ADR-007: Choose a queue\n\nСтатус: принято · 2021-03-04\n\n## Контекст\n\nx\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_title_status_and_date_are_read_from_every_form(form: str) -> None:
    record = read(FORMS[form])
    assert (record.title, record.status, record.decided_on) == (
        "Choose a queue",
        "accepted",
        date(2021, 3, 4),
    )
    assert record.number == "7"
    assert record.body == FORMS[form]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "0007-q.rst",
            "7. Choose a queue\n#################\n\n:Status: Accepted\n:Date: 2021-03-04\n\nContext\n*******\n\nx\n",
        ),
        (
            "0007-q.rst",
            "7. Choose a queue\n=================\n\nStatus\n------\n\n**Accepted** *2021-03-04*\n\nContext\n-------\n\nx\n",
        ),
        ("0007-q.adoc", "= 7. Choose a queue\n:status: Accepted\n:date: 2021-03-04\n\n== Context\n\nx\n"),
    ],
)
def test_restructured_text_and_asciidoc_are_read(path: str, text: str) -> None:
    record = read(text, path)
    assert (record.title, record.status, record.decided_on) == (
        "Choose a queue",
        "accepted",
        date(2021, 3, 4),
    )


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("ADR 012: Use Kafka", "Use Kafka"),
        ("ADR-XXX: Use Kafka", "Use Kafka"),
        ("RFC-7 - Use Kafka", "Use Kafka"),
        ("Architecture Decision Record: Use Kafka", "Use Kafka"),
        ("TEAM-ADR-DB-0004: Use Kafka", "Use Kafka"),
        ("ADR-006 (Draft): Use Kafka", "Use Kafka"),
        ("12. Use Kafka", "Use Kafka"),
        ("2021-03-04 — Use Kafka", "Use Kafka"),
        ("**Use [Kafka](https://k.example)** and `rabbit`", "Use Kafka and `rabbit`"),
        ("Partly undo ADR 9 (Kafka)", "Partly undo ADR 9 (Kafka)"),
        ("ADR template for teams", "ADR template for teams"),
        ("3 tier layout", "3 tier layout"),
        ("架构决策记录：使用 Kafka", "使用 Kafka"),
    ],
)
def test_a_title_loses_its_number_kind_and_markup_only(heading: str, title: str) -> None:
    assert read(f"# {heading}\n\n## Status\n\nAccepted\n").title == title


@pytest.mark.parametrize(
    "heading", ["# {short title of solved problem}", "## Context and Problem Statement", "# Status"]
)
def test_a_blank_or_a_section_is_no_title_and_the_file_name_says_so(heading: str) -> None:
    record = read(f"---\nstatus: accepted\n---\n{heading}\n\nx\n\n## Decision\n\ny\n")
    assert (record.title, record.title_source) == ("Choose a queue", "file name")
    assert any("the title is the file name" in sentence for sentence in record.ambiguities)


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ("Accepted\n\nSuperseded by [9. Other](0009-other.md)", "superseded"),
        ("{ accepted }", "accepted"),
        ("Accepted | Rejected | Deprecated | Superseded by", None),
        ("{Deprecated|Proposed|Accepted|Declined}", None),
        ("", None),
        ("on hold", "pending"),
        ("In Review.", "pending"),
        ("Declined. Until it is accepted upstream, it stays so.", "rejected"),
        ("Not yet accepted", "pending"),
        ("Reverted", "deprecated"),
        ("- [ ] Proposed\n- [x] Accepted", "accepted"),
        ("~~Proposed~~ Accepted", "accepted"),
        ("2021-03-04 accepted\n\n2021-02-01 proposed", "accepted"),
        ("Supersedes [ADR-1](0001-a.md)", None),
    ],
)
def test_a_status_is_one_of_five_or_nothing(written: str, status: str | None) -> None:
    record = read(f"# 7. Choose a queue\n\n## Status\n\n{written}\n\n## Context\n\nx\n")
    assert record.status == status
    assert record.status_written == written.strip()


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ("- 04-06-2018: a\n- 27-05-2018: b", date(2018, 5, 27)),
        ("- 05-26-2018: a\n- 04-06-2018: b", date(2018, 4, 6)),
        ("- 04-06-2018: a\n- 05-07-2018: b", None),
        ("- 02.04.20: a\n- 19.08.20: b", date(2020, 4, 2)),
        ("- 2020-01-02: Draft completed\n- 2020-01-01: Draft", date(2020, 1, 1)),
        ("- 2020-01-02: Tweak accepted changes\n- 2020-01-01: Draft", date(2020, 1, 1)),
        ("- 2020-01-02: fix typos, approve ADR (@ann)\n- 2020-01-01: Draft", date(2020, 1, 2)),
        ("- {date}: {changelog}", None),
        ("### November 2nd 2018\n\n- first", date(2018, 11, 2)),
    ],
)
def test_a_change_log_gives_the_entry_that_accepts_else_the_earliest(
    entries: str, expected: date | None
) -> None:
    record = read(
        f"# 7. Choose a queue\n\n## Changelog\n\n{entries}\n\n## Status\n\nAccepted\n\n## Context\n\nx\n"
    )
    assert record.decided_on == expected


def test_a_date_with_two_readings_stays_empty_and_both_are_said() -> None:
    record = read("# 7. Choose a queue\n\nDate: 04/07/2023\n\n## Status\n\nAccepted\n")
    assert record.decided_on is None
    assert record.date_written == "04/07/2023"
    assert any("2023-07-04" in sentence and "2023-04-07" in sentence for sentence in record.ambiguities)


@pytest.mark.parametrize(
    "written", ["dd/mm/YYYY", "insert date", "{YYYY-MM-DD when decided}", "January, 2026"]
)
def test_a_date_without_a_day_or_a_blank_is_none(written: str) -> None:
    assert read(f"---\nstatus: accepted\ndate: {written}\n---\n# Choose a queue\n\nx\n").decided_on is None


def test_parts_are_found_by_their_headings_and_nested_options_go_apart() -> None:
    record = read(
        "# 7. Choose a queue\n\n## Context\n\nlate mails\n\n## Decision\n\nuse one\n\n### Options\n\nkafka\n\n"
        "### Rationale\n\nsimple\n\n## Consequences\n\n### Positive\n\nfast\n"
    )
    assert (record.context, record.decision) == ("late mails", "use one")
    assert (record.alternatives, record.rationale) == ("kafka", "simple")
    assert "fast" in record.consequences


def test_people_and_tags_are_lists_without_blanks() -> None:
    record = read(
        "---\nstatus: accepted\ndeciders: Ann, [Bo](https://b.example)\nauthors: {list everyone}\ntags: [queue, mail]\n---\n# Choose a queue\n\nx\n"
    )
    assert (record.deciders, record.authors, record.tags) == (["Ann", "Bo"], [], ["queue", "mail"])


def test_code_and_comments_are_no_headings_nor_metadata() -> None:
    record = read(
        "# Choose a queue\n\n<!-- Status: rejected -->\n\n```yaml\n# Other\nstatus: rejected\n```\n\nStatus: accepted\n"
    )
    assert (record.title, record.status) == ("Choose a queue", "accepted")


def test_a_log_gives_one_record_for_each_decision() -> None:
    sections = "".join(
        f"## ADR-{n:03}: Choice {n}\n\n**Status**: Accepted\n**Date**: 2021-03-{n:02}\n\n### Decision\n\nd{n}\n\n"
        for n in range(1, 29)
    )
    parsed = parse_file(f"# Decision log\n\n{sections}".encode(), "DECISIONS.md")
    assert [record.title for record in parsed.records] == [f"Choice {n}" for n in range(1, 29)]
    assert parsed.records[4].key == "DECISIONS.md#adr-005-choice-5"
    assert (parsed.records[4].number, parsed.records[4].decided_on) == ("5", date(2021, 3, 5))
    assert "".join(record.body for record in parsed.records).count("### Decision") == 28


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("docs/adr/README.md", "# Architecture decisions\n\nWe keep them here.\n", "index"),
        ("docs/adr/adr-template.md", "# {short title}\n\n## Context\n\n{describe}\n", "template"),
        ("docs/adr/0000-template.md", "# Título\n\n## Status\n\nAceito | Rejeitado\n", "template"),
        ("docs/adr/templates/short.md", "# Title\n\n## Decision\n", "template"),
        (
            "docs/adr/0012-new-record-template.md",
            "# 12. A new record template\n\nDate: 2020-01-01\n\n## Status\n\nAccepted\n",
            "record",
        ),
        (
            "docs/adr/decisions.md",
            "# Decisions\n\n* [1. A](0001-a.md)\n* [2. B](0002-b.md)\n* [3. C](0003-c.md)\n",
            "index",
        ),
        ("docs/adr/0003-empty.md", "", "empty"),
        ("docs/adr/schema.sql", "create table a (b int);", "not-a-record"),
        (
            "docs/adr/0004-queue/README.md",
            "# Queue\n\n## Status\n\nAccepted\n\n## Context\n\nx\n\n## Decision\n\ny\n",
            "record",
        ),
    ],
)
def test_templates_index_pages_and_empty_files_are_no_records(path: str, text: str, kind: str) -> None:
    assert parse_file(text.encode(), path).kind == kind

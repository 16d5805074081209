"""References between records, and which record a renamed file is."""

from __future__ import annotations

from transfer.adr.identity import fingerprint, match_renames
from transfer.adr.parse import parse_file
from transfer.adr.resolve import Resolution, resolve


def resolved(files: dict[str, str]) -> Resolution:
    return resolve([parse_file(text.encode(), path) for path, text in files.items()])


def record(number: int, title: str, status: str) -> str:
    return f"# {number}. {title}\n\n## Status\n\n{status}\n\n## Context\n\nx\n"


def edges(resolution: Resolution) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.relation, edge.target) for edge in resolution.edges]


def test_superseded_by_and_supersedes_are_one_edge() -> None:
    found = resolved({
        "adr/0001-a.md": record(1, "A", "Superseded by [2. B](0002-b.md)"),
        "adr/0002-b.md": record(2, "B", "Accepted\n\nSupersedes [1. A](0001-a.md)"),
    })  # fmt: skip
    assert edges(found) == [("adr/0002-b.md", "SUPERSEDES", "adr/0001-a.md")]
    assert found.missing == []


def test_a_number_alone_finds_the_record_of_its_own_kind() -> None:
    found = resolved({
        "adr/adr-001-a.md": "# ADR 001: A\n\nStatus: superseded by ADR-2\n\n## Context\n\nx\n",
        "adr/adr-002-b.md": "# ADR 002: B\n\nStatus: accepted\n\n## Context\n\nx\n",
        "adr/rfc-002-c.md": "# RFC 002: C\n\nStatus: accepted\n\n## Context\n\nx\n",
    })  # fmt: skip
    assert edges(found) == [("adr/adr-002-b.md", "SUPERSEDES", "adr/adr-001-a.md")]


def test_records_may_supersede_each_other_in_a_circle() -> None:
    found = resolved({
        "adr/0001-a.md": record(1, "A", "Superseded by [B](0002-b.md)"),
        "adr/0002-b.md": record(2, "B", "Superseded by [A](0001-a.md)"),
    })  # fmt: skip
    assert len(found.edges) == 2


def test_a_missing_target_is_said_with_its_words() -> None:
    found = resolved({"adr/0001-a.md": record(1, "A", "Superseded by [9. Z](0009-z.md)")})
    assert [(m.reference.written, m.why) for m in found.missing] == [
        ("9. Z", "no such file among those read")
    ]


def test_sections_of_a_log_refer_to_each_other() -> None:
    log = "# Log\n\n## ADR-1: A\n\nStatus: superseded by ADR-2\n\n## ADR-2: B\n\nStatus: accepted\n"
    assert edges(resolved({"log.md": log})) == [("log.md#adr-2-b", "SUPERSEDES", "log.md#adr-1-a")]


BODY = " ".join(f"word{n}" for n in range(80))


def test_a_renamed_and_renumbered_record_is_the_same_one() -> None:
    then = [
        fingerprint("adr/0009-queue.md", "Queue", "9", BODY),
        fingerprint("adr/0001-a.md", "A", "1", "other words " * 20),
    ]
    now = [
        fingerprint("docs/0010-queue.md", "Queue", "10", f"{BODY} and more"),
        fingerprint("adr/0001-a.md", "A", "1", "new"),
    ]
    assert {m.now: m.then for m in match_renames(now, then)} == {
        "docs/0010-queue.md": "adr/0009-queue.md",
        "adr/0001-a.md": "adr/0001-a.md",
    }


def test_a_path_that_is_still_there_is_never_another_record() -> None:
    then = [fingerprint("adr/0001-a.md", "A", "1", BODY)]
    now = [fingerprint("adr/0001-a.md", "B", "2", "other"), fingerprint("adr/0002-a.md", "A", "1", BODY)]
    assert [(m.now, m.then) for m in match_renames(now, then)] == [("adr/0001-a.md", "adr/0001-a.md")]


def test_the_same_number_with_other_words_is_another_record() -> None:
    then = [fingerprint("adr/0001-a.md", "A", "1", BODY)]
    now = [fingerprint("adr/0001-z.md", "Z", "1", " ".join(f"term{n}" for n in range(80)))]
    assert match_renames(now, then) == []

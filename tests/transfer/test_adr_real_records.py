"""The importer against records nobody here wrote: titles, statuses, dates, links, renames."""

from __future__ import annotations

from functools import lru_cache

import pytest

from tests.public_records import public_records, rows
from transfer.adr.identity import fingerprint_of, match_renames
from transfer.adr.parse import parse_file
from transfer.adr.records import ParsedFile
from transfer.adr.score import Score, read_folder, score_files


@lru_cache(maxsize=1)
def files() -> list[ParsedFile]:
    return read_folder(public_records() / "adrs")


@lru_cache(maxsize=1)
def score() -> Score:
    return score_files(
        files(), {row["file"]: row for row in rows(public_records() / "adrs" / "expected.tsv")}
    )


@pytest.mark.parametrize("field", ["title", "status", "date"])
def test_at_least_99_percent_of_a_field_is_read_right(field: str) -> None:
    assert score().share(field) >= 99, [miss for miss in score().misses if miss.field == field]


def test_every_record_is_imported_and_nothing_else() -> None:
    kinds = {row["file"]: row["kind"] for row in rows(public_records() / "adrs" / "index.tsv")}
    wrong = [(f.path, f.kind, f.why) for f in files() if (f.kind == "record") != (kinds[f.path] == "record")]
    assert wrong == []
    assert score().imported == sum(kind == "record" for kind in kinds.values())


def test_every_superseded_by_leads_to_a_record() -> None:
    missing = [m for m in score().resolution.missing if m.reference.relation == "SUPERSEDED_BY"]
    assert missing == []
    superseded = {edge.target for edge in score().resolution.edges if edge.relation == "SUPERSEDES"}
    assert {r.key for f in files() for r in f.records if r.status == "superseded"} <= superseded


def test_no_text_of_any_file_is_cut() -> None:
    folder = public_records() / "adrs"
    for parsed in files():
        if len(parsed.records) == 1:
            written = (folder / parsed.path).read_bytes()
            assert len(parsed.records[0].body.encode()) >= len(written) * 0.98 - 3


def test_an_earlier_version_is_the_same_record_now_and_nothing_else_is() -> None:
    versions = public_records() / "adr-versions"
    now = [fingerprint_of(record) for parsed in files() for record in parsed.records]
    matched = 0
    for row in rows(versions / "index.tsv"):
        prefix = row["repo"].replace("/", "+")
        then_path, now_path = f"{prefix}/{row['path_then']}", f"{prefix}/{row['path_now']}"
        parsed = parse_file((versions / row["file"]).read_bytes(), then_path)
        if not parsed.records:
            assert parsed.kind == "index"  # it was a folder's page then, and no record
            continue
        then = [record for record in now if record.path not in {now_path, then_path}] + [
            fingerprint_of(parsed.records[0])
        ]
        found = {match.now: match.then for match in match_renames(now, then)}
        assert found[now_path] == then_path, row["file"]
        assert all(a == b for a, b in found.items() if a != now_path)
        matched += 1
    assert matched == 16


def test_different_records_are_not_taken_for_renames() -> None:
    now = [fingerprint_of(record) for parsed in files() for record in parsed.records]
    half, rest = now[0::2], now[1::2]
    wrong = [m for m in match_renames(half, rest) if m.how not in {"same path"} and m.similarity < 0.5]
    assert wrong == []

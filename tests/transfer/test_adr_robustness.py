"""Whatever the bytes, reading ends, soon, with the text kept."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transfer.adr.document import decode
from transfer.adr.parse import parse_file

FRAGMENTS = st.sampled_from(
    ["---\n", "# T\n", "## Status\n", "accepted", "|", "\n", "{", "}", "[", "](", "```\n", "<!--", "-->", "2020-01-02", "01/02/03", ": ", "- ", "> ",
     "**", "ADR-1", "状态", "通过", "日期：", "===\n", "\x00", "\r", "superseded by ", "&a ", "*a", "+++\n", "## Changelog\n", "²", "٣", "\u2028"]
)  # fmt: skip


@given(st.binary(max_size=2000), st.sampled_from(["0001-a.md", "a.rst", "a.adoc", "README.md", "x/y", ""]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_bytes_make_reading_fail(data: bytes, path: str) -> None:
    parse_file(data, path)


@given(st.lists(FRAGMENTS, max_size=60), st.sampled_from(["0001-a.md", "a.rst", "a.adoc"]))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_mixture_of_markup_makes_reading_fail_or_lose_text(fragments: list[str], path: str) -> None:
    text = "".join(fragments)
    parsed = parse_file(text.encode(), path)
    if len(parsed.records) == 1 and parsed.records[0].key == path:
        assert parsed.records[0].body == decode(text.encode()).text


def test_yaml_aliases_are_not_expanded() -> None:
    bomb = "---\nstatus: accepted\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: [*c,*c,*c]\n---\n# Choose\n"
    start = time.process_time()
    parsed = parse_file(bomb.encode(), "0001-choose.md")
    assert time.process_time() - start < 0.5
    assert parsed.records[0].status == "accepted"
    assert any("aliases" in note for note in parsed.notes)


@pytest.mark.parametrize(
    "unit",
    ["a", "[", "[a](", "**a", "`", "<", "<!--", "| a ", "- [", "{", "2020-01-02 ", "accepted | ", "ADR-1, ", "ADR-A-", "# a\n", "## ADR-1: x\n",
     "a\n---\n", "not ", "superseded by ADR-2 ", "[x]: y\n", "日期：", "jan ", " ", "\n"],
)  # fmt: skip
@pytest.mark.parametrize(
    "head", ["", "---\n", "# T\n\n## Status\n\n", "# T\n\n## Changelog\n\n- 2020-01-01 "]
)
def test_a_long_run_of_anything_is_read_in_linear_time(unit: str, head: str) -> None:
    data = (head + unit * (131072 // len(unit.encode()))).encode()
    start = time.process_time()
    parse_file(data, "0001-a.md")
    # Processor time: far above what it takes, far below what a quadratic pattern would.
    assert time.process_time() - start < 3


def test_front_matter_that_is_no_yaml_is_read_line_by_line() -> None:
    parsed = parse_file(
        b"---\nstatus: {proposed | [ADR-1](a.md)\ndate: 2021-03-04\n---\n# Choose\n\nx\n", "0001-choose.md"
    )
    assert parsed.records[0].decided_on is not None
    assert any("not valid YAML" in note for note in parsed.notes)


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("é\r\nb\rc".encode(), "é\nb\nc", "utf-8"),
        (b"\xef\xbb\xbfa", "a", "utf-8"),
        ("状态".encode("utf-16"), "状态", "utf-16"),
        ("状态：通过，日期".encode("gb18030"), "状态：通过，日期", "gb18030"),
        ("café \u2026 déjà".encode("cp1252"), "café \u2026 déjà", "cp1252"),
        ("état … é".encode() + b"\x85", "état … é\u2026", "utf-8"),
        (b"a\x00b", "a\ufffdb", "utf-8"),
    ],
)
def test_encodings_are_recognised_and_oddities_replaced_visibly(
    data: bytes, text: str, encoding: str
) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.encoding) == (text, encoding)

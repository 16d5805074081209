"""What a model is given: the API's answer as Markdown, framed as data, within a size; and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from records.hygiene.framing import frame

# Characters of one answer, and of one text in it: a record of 1 MiB must not fill a model's window.
LONGEST_ANSWER, LONGEST_TEXT = 60_000, 12_000
HEADINGS = ("title", "name", "session_id", "agent_name", "type")
# Said in the line under the heading, in this order.
FACTS = (
    "node_id", "kind", "status", "severity", "confidence_score", "score", "cosine", "review_state", "active", "trust",
    "source_kind", "source_name", "age_days", "decided_at", "occurred_at", "started_at", "became", "version", "url",
)  # fmt: skip
NOT_SHOWN = {"kind", "project", "created_at", "archived_at", "merged_into", "source_session", "source_run"}


def shortened(answer: Any) -> tuple[Any, list[str]]:
    """The answer with each text cut at LONGEST_TEXT, and what was cut, in words. Nothing is cut without being named."""
    cut: list[str] = []
    return _shortened(answer, "", cut), cut


def _shortened(value: Any, path: str, cut: list[str]) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        cut.append(f"{path}: {LONGEST_TEXT:,} of {len(value):,} characters; the whole text is in the API.")
        return value[:LONGEST_TEXT]
    if isinstance(value, Mapping):
        return {
            key: _shortened(one, f"{path}.{key}" if path else str(key), cut) for key, one in value.items()
        }
    if isinstance(value, list):
        return [_shortened(one, f"{path}.{at}" if path else str(at), cut) for at, one in enumerate(value)]
    return value


def within_size(answer: dict[str, Any]) -> dict[str, Any]:
    """An object of at most LONGEST_ANSWER characters of JSON: texts shortened, then results left out, both said.

    A context pack has a budget of its own.
    """
    if "markdown" in answer:
        return answer
    kept, cut = shortened(answer)
    rows = kept.get("results")
    size = _size(kept)
    left = 0
    while isinstance(rows, list) and len(rows) > 1 and size > LONGEST_ANSWER:
        size -= _size(rows.pop())
        left += 1
    if left:
        cut.append(f"results: the last {left} are left out; ask for fewer, or for the next page.")
    if size > LONGEST_ANSWER:
        kept = {"text": json.dumps(kept, ensure_ascii=False)[:LONGEST_ANSWER]}
        cut.append(f"The answer is longer than {LONGEST_ANSWER:,} characters; the whole of it is in the API.")
    return {**kept, "shortened": cut} if cut else kept


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def as_text(answer: Mapping[str, Any]) -> str:
    """The answer in Markdown, framed: what agents and people wrote is data to the reader."""
    markdown = answer.get("markdown")
    if isinstance(markdown, str):
        return markdown  # the context pack is framed already
    return frame("\n".join(_lines(answer)).strip())


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    rows = answer.get("results")
    if isinstance(rows, list):
        yield from _list_lines(answer, rows)
    else:
        yield from _item_lines(answer, "#")
    for line in answer.get("shortened", []):
        yield f"(shortened: {line})"


def _list_lines(answer: Mapping[str, Any], rows: list[Any]) -> Iterator[str]:
    if not rows:
        yield "Nothing found."
    for row in rows:
        if isinstance(row, Mapping):
            yield from _item_lines(row, "##")
            yield ""
        else:
            yield f"- {_plain(row)}"
    for name, value in answer.items():
        if name != "results" and name != "shortened" and value not in (None, "", [], False):
            yield f"{name}: {_plain(value)}"


def _item_lines(item: Mapping[str, Any], mark: str) -> Iterator[str]:
    heading = next((item[name] for name in HEADINGS if item.get(name)), "")
    yield f"{mark} {' '.join(filter(None, [str(item.get('node_id', '')), _plain(heading)]))}".rstrip()
    facts = [f"{name}: {_plain(item[name])}" for name in FACTS if item.get(name) not in (None, "")]
    if facts:
        yield " · ".join(facts)
    for name, value in item.items():
        if name in FACTS or name in HEADINGS or name in NOT_SHOWN or value in (None, "", [], {}):
            continue
        if name == "shortened":
            continue
        text = _plain(value)
        yield f"{name}: {text}" if "\n" not in text and len(text) <= 80 else f"\n{name}:\n\n{text}\n"


def _plain(value: Any) -> str:
    """A value in words: a list of names as such, a record named beside another by its name, a passage as its text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    if (
        isinstance(value, list)
        and value
        and all(isinstance(one, Mapping) and "node_id" in one for one in value)
    ):
        return "; ".join(f"{one['node_id']} {one.get('title') or ''}".strip() for one in value)
    if isinstance(value, Mapping) and value.keys() == {"start", "end", "text"}:
        return str(value["text"])
    return json.dumps(value, ensure_ascii=False)


def problem_text(problem: Mapping[str, Any]) -> str:
    """What was refused, with each field that is wrong."""
    said = [f"{problem.get('status', '')} {problem.get('title', '')}".strip(), str(problem.get("detail", ""))]
    lines = [": ".join(filter(None, said))]
    for name, errors in problem.get("errors", {}).items():
        lines.append(f"- {name or 'body'}: {' '.join(map(str, errors))}")
    return "\n".join(lines)

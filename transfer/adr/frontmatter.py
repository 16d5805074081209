"""Front matter: YAML between `---` lines or TOML between `+++` lines, read as written and never trusted."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

import yaml

SIZE_LIMIT = 64 * 1024
NESTING_LIMIT = 200
_KEY_VALUE = re.compile(
    r"^([^\s#:\-\[{'\"|>][^:\n]{0,60}?|'[^'\n]{1,60}'|\"[^\"\n]{1,60}\")\s*:(?:\s+(.*))?$"
)
_ITEM = re.compile(r"^\s*-\s+(.*)$")


@dataclass(frozen=True)
class FrontMatter:
    """Keys with their values as written (a list where the file has one); `raw` is the block itself."""

    fields: dict[str, str | list[str]] = field(default_factory=dict)
    raw: str = ""
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.fields)


class _Refused(Exception):
    """YAML that is not read because of what it could expand to."""


class _PlainLoader(yaml.SafeLoader):
    """Composes nodes only; an anchor or alias is refused before anything can be expanded."""

    def compose_node(self, parent, index):  # type: ignore[no-untyped-def]
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.events.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _Refused(
                "front matter with YAML anchors or aliases is read line by line, nothing is expanded"
            )
        return super().compose_node(parent, index)


def split_front_matter(text: str) -> tuple[FrontMatter, int]:
    """The front matter and the number of the line after it; (empty, 0) where there is none."""
    first = 0
    lines = text.split("\n", 40) if text[:1] == "\n" else [text]
    while first < len(lines) - 1 and not lines[first].strip():
        first += 1
    start = sum(len(line) + 1 for line in lines[:first])
    fence = text[start : start + 3]
    if fence not in {"---", "+++"} or text[start + 3 : start + 4].strip(" \t") not in {"", "\n"}:
        return FrontMatter(), 0
    head = text.find("\n", start)
    if head < 0 or text[start + 3 : head].strip():
        return FrontMatter(), 0
    block = text[head + 1 : head + 1 + SIZE_LIMIT + 8]
    end = re.search(r"^(?:---|\.\.\.)[ \t]*$" if fence == "---" else r"^\+\+\+[ \t]*$", block, re.MULTILINE)
    if end is None:
        noted = len(text) > SIZE_LIMIT
        return FrontMatter(
            notes=("front matter is not closed within 64 KiB and is read as text",) if noted else ()
        ), 0
    raw = block[: end.start()]
    fields, notes = _read_toml(raw) if fence == "+++" else read_yaml(raw)
    if (
        not fields
        and raw.strip()
        and not all(line.lstrip().startswith("#") or not line.strip() for line in raw.split("\n"))
    ):
        return FrontMatter(), 0  # a rule, text, and another rule
    after = text.count("\n", 0, head + 1 + end.end()) + 1
    return FrontMatter(fields, raw, tuple(notes)), after


def read_yaml(raw: str) -> tuple[dict[str, str | list[str]], list[str]]:
    """Top-level keys of a YAML block, values as written; line by line where it is no YAML or not safe to read."""
    if sum(raw.count(c) for c in "[{") > NESTING_LIMIT:
        return _read_lines(raw), ["front matter is nested too deep and is read line by line"]
    loader = _PlainLoader(raw) if _printable(raw) else None
    if loader is None:
        return _read_lines(raw), ["front matter has control characters and is read line by line"]
    try:
        node = loader.get_single_node()
    except _Refused as refusal:
        return _read_lines(raw), [str(refusal)]
    except (yaml.YAMLError, RecursionError, ValueError, IndexError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 2})" if mark is not None else ""
        return _read_lines(raw), [f"front matter is not valid YAML{where} and is read line by line"]
    finally:
        loader.dispose()
    if not isinstance(node, yaml.MappingNode):
        return {}, []
    fields: dict[str, str | list[str]] = {}
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):
            fields[str(key.value)] = _as_written(value, raw)
    return fields, []


def _printable(raw: str) -> bool:
    return yaml.reader.Reader.NON_PRINTABLE.search(raw) is None


def _as_written(node: yaml.Node, raw: str) -> str | list[str]:
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if isinstance(node, yaml.SequenceNode) and not _looks_like_choices(node, raw):
        items = (_as_written(item, raw) for item in node.value[:500])
        return [item if isinstance(item, str) else ", ".join(item) for item in items]
    # A mapping here is mostly a template's braces, `{ accepted }`: what counts is the text.
    return raw[node.start_mark.index : node.end_mark.index].strip()


def _looks_like_choices(node: yaml.SequenceNode, raw: str) -> bool:
    written = raw[node.start_mark.index : node.end_mark.index]
    return bool(node.flow_style) and "|" in written


def _read_toml(raw: str) -> tuple[dict[str, str | list[str]], list[str]]:
    try:
        values = tomllib.loads(raw)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return {}, ["front matter is not valid TOML and is read as text"]
    fields: dict[str, str | list[str]] = {}
    for key, value in values.items():
        fields[key] = [str(item) for item in value[:500]] if isinstance(value, list) else str(value)
    return fields, []


def _read_lines(raw: str) -> dict[str, str | list[str]]:
    fields: dict[str, str | list[str]] = {}
    key: str | None = None
    for line in raw.split("\n"):
        match = _KEY_VALUE.match(line[:4000])
        if match:
            key = match.group(1).strip("'\" ")
            fields[key] = _unquoted((match.group(2) or "").strip())
        elif key is not None and (item := _ITEM.match(line[:4000])):
            value = fields[key]
            items = value if isinstance(value, list) else ([value] if value else [])
            fields[key] = [*items, _unquoted(item.group(1).strip())]
        elif key is not None and line[:1] in {" ", "\t"} and line.strip() and isinstance(fields[key], str):
            fields[key] = f"{fields[key]} {line.strip()[:2000]}".strip()
    return fields


def _unquoted(value: str) -> str:
    value = re.sub(r"\s+#\s.*$", "", value) if value[:1] not in {"'", '"'} else value
    if len(value) >= 2 and value[0] == value[-1] and value[0] in {"'", '"'}:
        return value[1:-1]
    return re.sub(r"^[&*!]\S+\s*", "", value)

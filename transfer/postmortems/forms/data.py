"""Post-mortems as YAML mappings: a document each, or a list of them. Scalars stay as written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import yaml

from transfer.adr.inline import is_placeholder
from transfer.postmortems.records import NotOne, Part, Written
from transfer.postmortems.vocabulary import NARRATIVE, TELLING, normal, role_of

TITLES = ("title", "name", "headline")
IDENTITIES = ("incident id", "id", "slug", "postmortem id")
TAGS = ("tags", "labels", "keywords")
DEEPEST = 40


class _Loader(yaml.BaseLoader):
    """Text only, and nothing that expands: an alias may stand for a million others."""

    def compose_node(self, parent, index):  # type: ignore[no-untyped-def]
        if self.check_event(yaml.events.AliasEvent):  # type: ignore[no-untyped-call]
            raise NotOne("YAML aliases are not read: they may expand without end", bad=True)
        return super().compose_node(parent, index)


def read(text: str) -> list[Written]:
    documents = [
        one for document in _load(text) for one in (document if isinstance(document, list) else [document])
    ]
    found = [_written(one) for one in documents if isinstance(one, dict) and _tells(one)]
    if found:
        return found
    if any(isinstance(one, dict) and _names_parts(one) for one in documents):
        raise NotOne("an unfilled template: its parts are named and empty")
    raise NotOne("no post-mortem: its keys name no impact, cause, detection, recovery or prevention")


def _load(text: str) -> list[Any]:
    try:
        return [document for document in yaml.load_all(text, _Loader) if document]
    except RecursionError as error:
        raise NotOne("nested too deep to be read", bad=True) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise NotOne(f"no valid YAML{where}: {getattr(error, 'problem', None) or error}", bad=True) from error


def _roles(document: dict[Any, Any]) -> dict[str, Any]:
    return {role: value for key, value in document.items() if (role := role_of(str(key)))}


def _names_parts(document: dict[Any, Any]) -> bool:
    return len(TELLING & set(_roles(document))) > 1


def _tells(document: dict[Any, Any]) -> bool:
    """Two parts of an incident are filled, and it has a name."""
    filled = {
        role
        for key, value in document.items()
        if (role := role_of(str(key))) in TELLING and isinstance(value, str | list) and _filled(value)
    }
    return len(filled) > 1 and any(_filled(_by_name(document, names)) for names in (TITLES, IDENTITIES))


def _filled(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_filled(inner) for inner in value.values())
    if isinstance(value, list):
        return any(_filled(inner) for inner in value)
    return bool(str(value).strip()) and not is_placeholder(str(value).strip())


def _by_name(document: dict[Any, Any], names: tuple[str, ...]) -> Any:
    return next((value for name in names for key, value in document.items() if normal(str(key)) == name), "")


def _written(document: dict[Any, Any]) -> Written:
    title, identity = _by_name(document, TITLES), _by_name(document, IDENTITIES)
    tags = _by_name(document, TAGS)
    told: list[Part] = []
    facts: list[Part] = []
    for key, value in document.items():
        if normal(str(key)) in TITLES and isinstance(value, str):
            continue
        text = "\n".join(_lines(value)).strip("\n")
        if not text.strip():
            continue
        label, role = _label(str(key)), role_of(str(key)) or "other"
        if role in TELLING or role in NARRATIVE:
            told.append(Part(role, label, text, f"## {label}\n\n{text}"))
        else:
            facts.append(Part(role, label, text, _fact(label, text)))
    if facts:
        facts[0] = replace(facts[0], verbatim=f"## Details\n\n{facts[0].verbatim}")
    return Written(
        title=" ".join(str(title or identity).split()),
        parts=[*told, *facts],  # what it was comes before what it is filed under
        identity=str(identity).strip() if isinstance(identity, str) else "",
        tags=[str(tag) for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else [],
    )


def _label(key: str) -> str:
    label = key.replace("_", " ").strip()
    return label[:1].upper() + label[1:]


def _fact(label: str, text: str) -> str:
    """An item of a list; what has lines of its own stands below it."""
    if "\n" not in text and not text.startswith("- "):
        return f"- {label}: {text}"
    return f"- {label}:\n" + "\n".join(f"  {line}" for line in text.split("\n"))


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    """Markdown of a value: nested lists; a text as it is."""
    if depth > DEEPEST:
        raise NotOne("nested too deep to be read", bad=True)
    indent = "  " * (depth - 1)
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                yield f"{'  ' * depth}- {key}:"
                yield from _lines(inner, depth + 1)
            else:
                yield f"{'  ' * depth}- {key}: {_below(str(inner), depth)}"
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict) and all(isinstance(one, str) for one in inner.values()):
                pairs = [f"{key}: {one}" for key, one in inner.items()]
                yield f"{'  ' * depth}- {_below('; '.join(pairs), depth)}"
            elif isinstance(inner, dict | list):
                yield from _lines(inner, depth + 1)
            else:
                yield f"{'  ' * depth}- {_below(str(inner), depth)}"
    else:
        yield f"{indent}{value}" if depth else str(value)


def _below(text: str, depth: int) -> str:
    return text.strip("\n").replace("\n", "\n" + "  " * (depth + 1))

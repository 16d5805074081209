"""References to records whose id had to change, wherever one stands by itself; ids inside running text stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from records.kinds import Kind, parse_node_id


class Renaming:
    """`changed` has only those that have another id here; `sessions` those with another name."""

    def __init__(self, changed: Mapping[str, str]) -> None:
        self.changed = dict(changed)
        self.sessions: dict[str, str] = {}
        self._hex = {_key(old): _key(new) for old, new in self.changed.items() if len(_key(old)) == 32}

    def of(self, node_id: str) -> str:
        return self.changed.get(node_id, node_id)

    def of_run(self, said: str) -> str:
        """A run as agents name it: by its node id, or its bare key."""
        return self.changed.get(said) or self._hex.get(said, said)

    def of_session(self, name: str) -> str:
        return self.sessions.get(name, name)

    def inside(self, value: Any) -> Any:
        """A JSON value with every string in it, names too, that is such an id, and nothing else, replaced."""
        if not self.changed:
            return value
        if isinstance(value, str):
            return self.of(value)
        if isinstance(value, list):
            return [self.inside(inner) for inner in value]
        if isinstance(value, dict):
            return {self.of(name): self.inside(inner) for name, inner in value.items()}
        return value

    def of_image(
        self, kind: Kind, image: dict[str, Any], project_id: int, people: Mapping[str, int]
    ) -> dict[str, Any]:
        """An after-image as it would be had the record been here."""
        said = dict(image)
        if said.get("project_id") is not None:
            said["project_id"] = project_id
        if said.get("reviewed_by_id") is not None:
            said["reviewed_by_id"] = people.get(str(said["reviewed_by_id"]))
        for name, prefix in (("decision_id", "dec"), ("source_run_fk_id", "run")):
            if said.get(name) is not None:
                said[name] = _same_sort(self.of(f"{prefix}_{said[name]}"))
        for name in ("merged_into", "source_run"):
            if isinstance(said.get(name), str):
                said[name] = self.of(said[name])
        for name in ("source_session", *(["session_id"] if kind.name == "session" else [])):
            if isinstance(said.get(name), str):
                said[name] = self.of_session(said[name])
        return said


def _key(node_id: str) -> str:
    return node_id.partition("_")[2]


def _same_sort(node_id: str) -> Any:
    parsed = parse_node_id(node_id)
    return parsed[1] if parsed else _key(node_id)

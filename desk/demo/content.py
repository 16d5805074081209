"""The demo's content: YAML files beside this module, read into plain dictionaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def content(name: str) -> Any:
    """`decisions`, `patterns`, `pitfalls`, `sessions`, `runs` (lists) or `project` (a dictionary)."""
    return yaml.load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), Loader=LOADER)  # noqa: S506  (a safe one)

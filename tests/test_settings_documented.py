"""Every variable that the settings read is in docs/settings.md, and nothing there is made up."""

import ast
import re
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
READERS = {
    "text",
    "flag",
    "number",
    "choice",
    "words",
    "secret",
    "zone",
    "address",
    "hosts",
    "origins",
    "networks",
    "mail",
}


def variables_read() -> set[str]:
    tree = ast.parse((TOP / "memory_site/settings.py").read_text(encoding="utf-8"))
    return {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in READERS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "env"
        and isinstance(node.args[0], ast.Constant)
    }


def variables_documented() -> set[str]:
    text = (TOP / "docs/settings.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE))


def test_the_page_lists_exactly_what_is_read():
    assert len(variables_read()) > 15
    assert variables_documented() == variables_read()

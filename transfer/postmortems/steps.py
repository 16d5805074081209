"""Commands that the text says were run: code in a line of the timeline or of the resolution."""

from __future__ import annotations

import re
from collections.abc import Iterator

from transfer.postmortems.records import Step, Written

# A command begins with a program that people on call type, and has an argument.
PROGRAMS = frozenset(
    [
        "ansible",
        "aws",
        "az",
        "cat",
        "chmod",
        "chown",
        "consul",
        "curl",
        "df",
        "dig",
        "docker",
        "du",
        "etcdctl",
        "flux",
        "gcloud",
        "git",
        "grep",
        "helm",
        "helmfile",
        "host",
        "journalctl",
        "kill",
        "kubectl",
        "kubeadm",
        "ls",
        "make",
        "mongo",
        "mysql",
        "nc",
        "netstat",
        "nginx",
        "nomad",
        "nslookup",
        "openssl",
        "ping",
        "pkill",
        "psql",
        "python",
        "redis-cli",
        "rm",
        "rsync",
        "scp",
        "sed",
        "service",
        "ssh",
        "sqlite3",
        "ss",
        "systemctl",
        "tail",
        "telnet",
        "terraform",
        "top",
        "tofu",
        "traceroute",
        "vault",
        "wget",
    ]
)
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+)\1(?!`)")
_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})[^`]*$")
_TIME = re.compile(r"(?:(?:19|20)\d{2}-\d{2}-\d{2}[ T])?\d{1,2}[:.]\d{2}(?!\d)")
ROLES = ("timeline", "context", "resolution")
# "We ran `…`", "fixed with `…`", "using terraform (`…`)"; a command that is only spoken of was not run.
_RUN = re.compile(
    r"(?<!\bto )(?:^|\b(?:ran|run|re-?ran|re-?run|running|using|with|via|by|executed|applied|issued|did|typed)\b)"
    r"(?:\W+\w+){0,2}\W*$",
    re.IGNORECASE,
)
_NAMED_ONLY = frozenset({"provider", "providers", "module", "modules", "state", "context", "cluster"})


def steps_of(written: Written) -> list[Step]:
    """In the order of the text. In a context, which tells of much else, only lines with a time count."""
    found: list[Step] = []
    for part in written.parts:
        if part.role not in ROLES:
            continue
        for line in part.text.split("\n"):
            stamp = _TIME.search(line[:40])
            if part.role == "context" and stamp is None:
                continue
            said = line.strip(" -*|")
            found += [
                Step(match.group(2), said, stamp.group() if stamp else "")
                for match in _CODE.finditer(line)
                if is_command(match.group(2)) and _was_run(line[: match.start()], stamp)
            ]
        if part.role != "context":
            found += [Step(line.strip(" $"), "a block of commands") for line in _fenced(part.text)]
    return found


def _fenced(text: str) -> Iterator[str]:
    """The commands of its code blocks."""
    inside = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            inside = not inside
        elif inside and is_command(line):
            yield line


def _was_run(before: str, stamp: re.Match[str] | None) -> bool:
    before = before[stamp.end() :] if stamp else before
    return bool(_RUN.search(before.lstrip(" -*|:–—")[-120:]))


def is_command(code: str) -> bool:
    words = code.strip(" $").split()
    return len(words) > 1 and words[0] in PROGRAMS and words[1] not in _NAMED_ONLY

"""The checks that the on-call agent can make. Each really looks, at targets that its operator named, and changes nothing.

A check takes the targets and answers a dict with `ok` and what it saw; it raises OSError where it cannot look.
An alert chooses which checks are made; no word of an alert becomes a host, a path or a command.
"""

from __future__ import annotations

import collections
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TIMEOUT = 5.0
SLOW_MS = 1000
LOG_TAIL = 256 * 1024
FULL = 0.9
COMMANDS = {"load": ("uptime",), "disks": ("df", "-h"), "memory": ("free", "-m"), "processes": ("ps", "-eo", "pid,pcpu,pmem,comm", "--sort=-pcpu")}  # fmt: skip
OUTPUT_LINES = 12
_TROUBLE = re.compile(r"\b(ERROR|CRITICAL|FATAL|Traceback)\b")


@dataclass(frozen=True)
class Targets:
    """What the operator lets the agent look at: a base address, and perhaps a log file."""

    url: str
    log: Path | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        parts = urlsplit(self.url)
        return parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def is_https(self) -> bool:
        return urlsplit(self.url).scheme == "https"

    def at(self, path: str) -> str:
        return self.url.rstrip("/") + path


def _get(url: str) -> tuple[int, float]:
    """(status, milliseconds)."""
    began = time.perf_counter()
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            answer.read()
            status = answer.status
    except urllib.error.HTTPError as error:
        error.close()
        status = error.code
    return status, (time.perf_counter() - began) * 1000


def http_health(targets: Targets) -> dict[str, Any]:
    status, took = _get(targets.at("/healthz"))
    return {
        "ok": status == 200 and took < SLOW_MS,
        "url": targets.at("/healthz"),
        "status": status,
        "ms": round(took),
    }


def refuses_strangers(targets: Targets) -> dict[str, Any]:
    """Without a token the API must answer 401."""
    status, _took = _get(targets.at("/api/v1/me"))
    return {"ok": status == 401, "url": targets.at("/api/v1/me"), "status": status}


def dns_lookup(targets: Targets) -> dict[str, Any]:
    found = socket.getaddrinfo(targets.host, targets.port, proto=socket.IPPROTO_TCP)
    addresses = sorted({str(entry[4][0]) for entry in found})
    return {"ok": bool(addresses), "host": targets.host, "addresses": addresses}


def tcp_connect(targets: Targets) -> dict[str, Any]:
    began = time.perf_counter()
    with socket.create_connection((targets.host, targets.port), TIMEOUT):
        took = (time.perf_counter() - began) * 1000
    return {"ok": took < SLOW_MS, "host": targets.host, "port": targets.port, "ms": round(took, 1)}


def tls_certificate(targets: Targets) -> dict[str, Any]:
    """The days that the certificate is still good for; a name that does not match raises (an SSLError is an OSError)."""
    context = ssl.create_default_context()
    with (
        socket.create_connection((targets.host, targets.port), TIMEOUT) as plain,
        context.wrap_socket(plain, server_hostname=targets.host) as secured,
    ):
        certificate = secured.getpeercert() or {}
    ends = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
    days = int((ends - time.time()) // 86400)
    return {"ok": days > 14, "host": targets.host, "days_left": days}


def disk_space(_targets: Targets) -> dict[str, Any]:
    usage = shutil.disk_usage("/")
    used = usage.used / usage.total
    return {"ok": used < FULL, "path": "/", "used": round(used, 3), "free_gb": round(usage.free / 1e9, 1)}


def read_log(targets: Targets) -> dict[str, Any]:
    """Lines of trouble in the last 256 KiB of the log."""
    assert targets.log is not None
    with targets.log.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, 2) - LOG_TAIL))
        lines = stream.read().decode("utf-8", "replace").splitlines()
    trouble = [line for line in lines if _TROUBLE.search(line)]
    common = collections.Counter(re.sub(r"\d+", "#", line)[:200] for line in trouble).most_common(3)
    return {"ok": not trouble, "lines": len(lines), "troubles": len(trouble), "most_common": common}


def _command(name: str) -> Callable[[Targets], dict[str, Any]]:
    def check(_targets: Targets) -> dict[str, Any]:
        done = subprocess.run(COMMANDS[name], capture_output=True, text=True, timeout=TIMEOUT, check=False)
        output = done.stdout.splitlines()
        said = {"ok": done.returncode == 0, "command": " ".join(COMMANDS[name]), "code": done.returncode}
        return {**said, "output": output[:OUTPUT_LINES], "more_lines": max(0, len(output) - OUTPUT_LINES)}

    return check


CHECKS: dict[str, Callable[[Targets], dict[str, Any]]] = {
    "http_health": http_health,
    "refuses_strangers": refuses_strangers,
    "dns_lookup": dns_lookup,
    "tcp_connect": tcp_connect,
    "tls_certificate": tls_certificate,
    "disk_space": disk_space,
    "read_log": read_log,
    **{name: _command(name) for name in COMMANDS},
}


def can_make(name: str, targets: Targets) -> bool:
    """A check without its target says nothing: no log was named, or nothing is served with TLS."""
    if name == "read_log":
        return targets.log is not None
    return name in CHECKS and (name != "tls_certificate" or targets.is_https)


def make(name: str, targets: Targets) -> dict[str, Any]:
    """The check as a tool call: name, arguments, result or error, duration in milliseconds."""
    call: dict[str, Any] = {"name": name, "arguments": {"target": targets.url}}
    began = time.perf_counter()
    try:
        call["result"] = CHECKS[name](targets)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        call["error"] = f"{type(error).__name__}: {error}"
    return {**call, "duration_ms": round((time.perf_counter() - began) * 1000, 2)}

"""One question to an OpenAI-compatible endpoint (`LLM_URL`), within a time and a size; whoever asks can do without."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

MOST_BYTES = 2_000_000


class LlmFailed(Exception):
    """The endpoint gave no answer that can be used. The message says why, and holds nothing of request or answer."""


def is_configured() -> bool:
    return bool(settings.LLM_URL)


def complete(system: str, user: str, *, most_tokens: int) -> str:
    """The model's answer to one message, at temperature 0. Raises LlmFailed, after LLM_TIMEOUT seconds at the latest."""
    body = {
        "model": settings.LLM_MODEL,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
        "temperature": 0,
        "max_tokens": most_tokens,
        "stream": False,
    }
    raw = _post(json.dumps(body).encode())
    try:
        said = json.loads(raw)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise LlmFailed("answered something else than a chat completion") from error
    if not isinstance(said, str) or not said.strip():
        raise LlmFailed("answered no text")
    return said


def _post(body: bytes) -> bytes:
    parts = urlsplit(settings.LLM_URL)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=settings.LLM_TIMEOUT)
    late = threading.Event()
    sockets: list[Any] = []  # the connection lets go of its own before the answer is read

    def stop() -> None:
        """A time-out of the socket alone would begin anew with each byte that comes."""
        late.set()
        for one in sockets:
            with suppress(OSError):
                one.shutdown(SHUT_RDWR)

    timer = threading.Timer(settings.LLM_TIMEOUT, stop)
    timer.daemon = True
    timer.start()
    try:
        connection.connect()
        sockets.append(connection.sock)
        connection.request("POST", f"{parts.path.rstrip('/')}/chat/completions", body, _headers())
        answer = _read(connection.getresponse())
    except (OSError, HTTPException, ValueError) as error:
        reason = "timed out" if late.is_set() or isinstance(error, TimeoutError) else "cannot be reached"
        raise LlmFailed(reason) from error
    finally:
        timer.cancel()
        connection.close()
    if late.is_set():
        raise LlmFailed("timed out")
    return answer


def _read(response: HTTPResponse) -> bytes:
    if response.status != 200:
        raise LlmFailed(f"answered {response.status}")
    answer = response.read(MOST_BYTES + 1)
    if len(answer) > MOST_BYTES:
        raise LlmFailed("answered too much")
    return answer


def _headers() -> dict[str, str]:
    headers: dict[str, Any] = {"Content-Type": "application/json", "Accept": "application/json"}
    if settings.LLM_API_KEY:
        headers["Authorization"] = f"Bearer {settings.LLM_API_KEY}"
    return headers

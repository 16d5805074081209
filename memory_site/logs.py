"""The request's id in every log line and on every error page, so that a person's report finds its lines."""

import logging
import re
from contextvars import ContextVar
from typing import Any

request_id: ContextVar[str] = ContextVar("request_id", default="-")


# Who has such an address gets in, joins, or reads: its secret is in no log.
LOGIN_LINK = re.compile(
    r"(/login/[^/\s]+/|/password/reset/[^/\s]+/|/invitation/|/feed/|/unsubscribe/)[^/\s]{3,}"
)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class RequestIdFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


class SafeLineFilter(logging.Filter):
    """What a visitor put into an address cannot forge a line of its own, nor keep a login link readable here."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = _safe(record.getMessage()), ()
        for name, value in list(record.__dict__.items()):
            if name == "path" and isinstance(value, str):
                record.path = _safe(value)
            elif name == "request":
                record.request = _safe(repr(value))
        return True


def _safe(text: Any) -> str:
    return CONTROL.sub(_escaped, LOGIN_LINK.sub(r"\1…", str(text)))


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")

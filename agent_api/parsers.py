"""JSON as its standard has it, and nothing that a database or the next reader could not keep."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import IO, Any

from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

from records.validation import JSON_MAX_DEPTH, JSON_MAX_INTEGER


class BodyTooLarge(APIException):
    status_code = 413
    default_code = "too_large"


class StrictJSONParser(BaseParser):
    """UTF-8 only; no NaN, no key twice, no half of a surrogate pair, whole numbers of 64 bits, 64 levels."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        raw = stream.read(limit + 1)
        if len(raw) > limit:
            raise BodyTooLarge(
                _("The body is larger than the %s bytes that are taken in one request.") % f"{limit:,}"
            )
        if not raw:
            return {}
        try:
            value = json.loads(
                raw.decode("utf-8-sig"),
                parse_constant=_no_constant,
                parse_float=_finite,
                parse_int=_whole,
                object_pairs_hook=_no_key_twice,
            )
        except UnicodeDecodeError as error:
            raise ParseError(_("The body is not UTF-8 (at byte %s).") % error.start) from error
        except RecursionError as error:
            raise ParseError(_too_deep()) from error
        except ValueError as error:
            raise ParseError(_("The body is not valid JSON: %s") % _printable(str(error))) from error
        _check(value)
        return value


def _no_constant(name: str) -> Any:
    raise ValueError(_("%s is no JSON number.") % name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(_("A number is too large."))
    return number


def _whole(text: str) -> int:
    if len(text) > 21 or abs(int(text)) > JSON_MAX_INTEGER:
        raise ValueError(_("A whole number has more than 64 bits."))
    return int(text)


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _value in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(_("The key %s is there twice.") % json.dumps(twice[:100]))
    return found


def _check(value: Any) -> None:
    frontier: list[tuple[str, Any]] = [("", value)]
    for _level in range(JSON_MAX_DEPTH + 1):
        if not frontier:
            return
        for path, here in frontier:
            if isinstance(here, str) and not _is_whole(here):
                raise ParseError(
                    _("%s: holds a broken character (an unpaired surrogate).") % (path or _("The body"))
                )
        frontier = [inner for path, here in frontier for inner in _inside(path, here)]
    if frontier:
        raise ParseError(_too_deep())


def _inside(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if not _is_whole(key):
                raise ParseError(_("A key holds a broken character (an unpaired surrogate)."))
            yield f"{path}.{key}" if path else key, inner
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield f"{path}.{number}" if path else str(number), inner


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()[:300]


def _too_deep() -> str:
    return _("The body is nested deeper than %s levels.") % JSON_MAX_DEPTH

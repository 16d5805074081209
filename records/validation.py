"""Rules of every text and JSON column: what no database here, nor the graph, could keep is refused by name."""

import json
import math
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

JSON_MAX_DEPTH = 64  # MySQL refuses 100
JSON_MAX_INTEGER = 2**64 - 1
FIRST_YEAR, LAST_YEAR = 1001, 9998  # MySQL's, less one: a zone may shift the first and last day
TAG_MAX_LENGTH = 100


def check_text(value: str) -> None:
    """No NUL, no half of a surrogate pair, at most TEXT_MAX_BYTES in UTF-8."""
    if "\x00" in value:
        raise ValidationError(_("Holds a NUL character, which no database keeps; remove it."), code="nul")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise ValidationError(
            _("Holds a broken character (an unpaired surrogate); remove it."), code="surrogate"
        ) from error
    if size > settings.TEXT_MAX_BYTES:
        raise ValidationError(
            _("Is %(size)s bytes long; at most %(most)s are kept, and nothing is cut silently."),
            code="too_large",
            params={"size": size, "most": settings.TEXT_MAX_BYTES},
        )


def check_json(value: Any, depth: int = 0) -> None:
    """What a JSON column must hold to come back as it went in: finite numbers, clean text, bounded depth."""
    if depth == 0:
        _check_json_size(value)
    if depth > JSON_MAX_DEPTH:
        raise ValidationError(
            _("Is nested deeper than %(most)s levels."), code="too_deep", params={"most": JSON_MAX_DEPTH}
        )
    if isinstance(value, str):
        check_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValidationError(
            _("Holds a number that JSON has no form for (NaN or infinity)."), code="not_finite"
        )
    elif isinstance(value, int) and abs(value) > JSON_MAX_INTEGER:
        raise ValidationError(_("Holds a whole number of more than 64 bits."), code="too_big")
    elif isinstance(value, dict):
        for key, inner in value.items():
            check_text(str(key))
            check_json(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            check_json(inner, depth + 1)


def _check_json_size(value: Any) -> None:
    try:
        size = len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValidationError(_("Is not plain JSON."), code="not_json") from error
    if size > settings.TEXT_MAX_BYTES:
        raise ValidationError(
            _("Is %(size)s bytes long; at most %(most)s are kept, and nothing is cut silently."),
            code="too_large",
            params={"size": size, "most": settings.TEXT_MAX_BYTES},
        )


def check_time(value: datetime) -> None:
    """A time with its zone, of years that every database keeps and every reader's zone can show."""
    if value.tzinfo is None:
        raise ValidationError(_("Is a time without a zone."), code="naive")
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise ValidationError(
            _("Must lie between the years %(first)s and %(last)s."),
            code="year",
            params={"first": FIRST_YEAR, "last": LAST_YEAR},
        )


def check_tags(value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise ValidationError(_("Tags are a list of words."), code="not_a_list")
    for tag in value:
        if not tag.strip() or len(tag) > TAG_MAX_LENGTH:
            raise ValidationError(_("A tag has 1 to 100 characters."), code="tag_length")


def tag_words(value: Any) -> list[str]:
    """The tags of a column that a plain-SQL writer may have filled with any JSON: those that are tags, each once."""
    if not isinstance(value, list):
        return []
    words = (tag.strip() for tag in value if isinstance(tag, str))
    return list(dict.fromkeys(word for word in words if 0 < len(word) <= TAG_MAX_LENGTH))

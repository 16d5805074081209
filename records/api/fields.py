"""Strict fields of the API: a value of another type is refused by name, never turned into one that fits."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from typing import Any

from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from records.validation import check_json, check_text

TAGS_MOST = 100
# Inside what every database keeps and every time zone can show.
YEARS = range(1000, 9999)


class Text(serializers.CharField):
    """A string, kept to the byte. Where it is not optional, white space alone is no text."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("trim_whitespace", False)
        super().__init__(**options)
        # Ours says the size and is 413; the two inherited checks know nulls and surrogates only.
        self.validators = [check_text, *(v for v in self.validators if hasattr(v, "limit_value"))]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if not self.allow_blank and not data.strip():
            self.fail("blank")
        return super().to_internal_value(data)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if data is None or data is serializers.empty or isinstance(data, str):
            return super().run_validation(data)
        self.fail("invalid")  # before the inherited check makes a string of it


class Line(Text):
    """A short string; white space around it is dropped."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=True, **options)


class Choice(serializers.ChoiceField):
    default_error_messages = {"invalid_choice": _("Must be one of: {choices}.")}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", choices=", ".join(map(str, self.choices)))
        return data


class Number(serializers.FloatField):
    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        try:
            number = float(data)
        except OverflowError:
            self.fail("invalid")
        if not math.isfinite(number):
            self.fail("invalid")
        return number


class YesNo(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class Whole(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


@extend_schema_field({"type": "string", "anyOf": [{"format": "date-time"}, {"format": "date"}]})
class Moment(serializers.Field):
    """An instant (ISO 8601; without an offset: UTC) or, where `days`, also a day: answered as it was written."""

    default_error_messages = {
        "invalid": _("Must be a time such as 2026-03-15T14:30:00Z."),
        "invalid_day": _("Must be a day such as 2026-03-15, or a time such as 2026-03-15T14:30:00Z."),
        "range": _("Must lie in a year from 1000 to 9998."),
    }

    def __init__(self, *, days: bool = False, **options: Any) -> None:
        self.days = days
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> datetime | date:
        wrong = "invalid_day" if self.days else "invalid"
        if not isinstance(data, str) or not data.isascii():
            self.fail(wrong)
        try:
            moment: datetime | date | None = parse_date(data) or parse_datetime(data)
        except ValueError:
            self.fail(wrong)
        if moment is None or (not isinstance(moment, datetime) and not self.days):
            self.fail(wrong)
        if isinstance(moment, datetime):
            try:
                moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
            except OverflowError:
                self.fail("range")
        if moment.year not in YEARS:
            self.fail("range")
        return moment


def in_utc(moment: datetime | None) -> str | None:
    """ISO 8601 with a Z, as every instant is answered."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def midnight(day: date) -> datetime:
    """How a written day is kept: by its name, at midnight UTC."""
    return datetime.combine(day, time.min, tzinfo=UTC)


class Tags(serializers.ListField):
    child = Line(max_length=100)

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=TAGS_MOST, required=False, allow_null=True, **options)


ANY_JSON = ["object", "array", "string", "number", "boolean"]


@extend_schema_field({"type": ANY_JSON})
class Json(serializers.Field):
    """Any JSON value, up to 1 MiB; the order of keys is the database's."""

    default_validators = [check_json]

    def to_internal_value(self, data: Any) -> Any:
        return data


@extend_schema_field({"type": "object", "additionalProperties": True})
class JsonObject(Json):
    default_error_messages = {"not_an_object": _("Must be an object, such as {{}}.")}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("not_an_object")
        return data


@extend_schema_field({"type": [*ANY_JSON, "null"]})
class KeptJson(serializers.JSONField):
    """In an answer: whatever JSON its writer gave."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, **options)

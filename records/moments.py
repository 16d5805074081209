"""A time as people say it: exact, or a day in words ("3 June", "yesterday"), which is taken at its noon."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.utils import from_current_timezone  # a time that the clocks leapt over is refused
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from records.dates_in_words import days_of
from records.times import shown_time
from records.validation import check_time

SHOWN = "%Y-%m-%d %H:%M"
LONGEST = 100


class MomentField(forms.CharField):
    """Cleaned to an aware datetime. A span of several days is refused: the thing happened at one time."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("help_text", _("A time, or a day in words: 2026-06-03 14:30, 3 June, yesterday."))
        super().__init__(max_length=LONGEST, **options)

    def prepare_value(self, value: Any) -> Any:
        return shown_time(value).strftime(SHOWN) if isinstance(value, datetime) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return _moment(text) if text else None

    def validate(self, value: Any) -> None:
        if value is None and self.required:
            raise ValidationError(self.error_messages["required"], code="required")

    def run_validators(self, value: Any) -> None:
        """The text's own are done with; of the time, whether the databases hold it."""
        if value is not None:
            check_time(value)


def _moment(text: str) -> datetime:
    try:
        if len(text) > LONGEST:
            raise ValueError(_t("Name a day or a time."))
        if ":" in text:
            exact = parse_datetime(text)
            if exact is None:
                raise ValueError(_t("“%s” is no time: write 2026-06-03 14:30.") % text)
            return exact if timezone.is_aware(exact) else from_current_timezone(exact)
        first, last = days_of(text, timezone.localdate())
        if first is None or first != last:
            raise ValueError(_t("“%s” is more than one day: say when it happened.") % text)
        return timezone.make_aware(datetime.combine(first, time(12)))
    except (ValueError, OverflowError) as error:
        said = str(error) if isinstance(error, ValueError) else _t("“%s” is not in the calendar.") % text
        raise ValidationError(said, code="invalid") from error

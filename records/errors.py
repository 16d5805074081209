"""What a verb may answer instead of doing. Each names the record and says it for a person."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _


class VerbError(Exception):
    """A verb that did nothing at all."""


class NotAllowed(VerbError):
    """The actor may see the record but not do this."""


class InvalidInput(VerbError):
    """A field, or (under `__all__`) the act as a whole, breaks a rule."""

    def __init__(self, errors: Mapping[str, Sequence[str]], node_id: str = "") -> None:
        self.errors = {name: list(messages) for name, messages in errors.items()}
        self.node_id = node_id
        said = "; ".join(
            " ".join(messages if name == "__all__" else [f"{name}:", *messages])
            for name, messages in self.errors.items()
        )
        super().__init__(f"{node_id}: {said}" if node_id else said)


class TooLarge(InvalidInput):
    """A text or JSON value is larger than is kept; nothing is cut silently."""


class Refused(InvalidInput):
    """The act makes no sense for this record now (archive an archived merge, link to itself)."""

    def __init__(self, why: str, node_id: str = "") -> None:
        super().__init__({"__all__": [why]}, node_id)
        self.why = why


class Conflict(VerbError):
    """Someone else saved first. `record` is what is kept now; nothing was written."""

    def __init__(self, record: Any, expected: int) -> None:
        self.record, self.expected = record, expected
        super().__init__(
            _("%(node)s is at version %(now)s, not %(expected)s: someone else saved it first.")
            % {"node": record.node_id, "now": record.version, "expected": expected}
        )


class Erased(Exception):
    """The record's text was erased for good; `erasure` says who did it, when and why. Whoever asks for it is told so."""

    def __init__(self, record: Any, erasure: Any) -> None:
        self.record, self.erasure = record, erasure
        super().__init__(
            _("%(node)s was erased for good on %(day)s.")
            % {"node": record.node_id, "day": erasure.erased_at.date().isoformat()}
        )

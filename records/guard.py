"""Keeps every write inside a verb: models and managers of records refuse to write outside `writing()`."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import models

_writing: ContextVar[bool] = ContextVar("writing", default=False)


class OutsideVerb(RuntimeError):
    """A record was written around the verbs, so without actor, history and projection mark."""


@contextmanager
def writing() -> Iterator[None]:
    """Only the modules that own a table's writes (records/verbs.py, a kind's actions.py) open this."""
    token = _writing.set(True)
    try:
        yield
    finally:
        _writing.reset(token)


def refuse_outside_verb(what: str) -> None:
    if not _writing.get():
        raise OutsideVerb(f"{what}: write through actions.py, which keeps actor, reason and history.")


class GuardedQuerySet(models.QuerySet[Any]):
    def update(self, **kwargs: Any) -> int:
        refuse_outside_verb(f"{self.model.__name__}.update")
        return super().update(**kwargs)

    def delete(self) -> tuple[int, dict[str, int]]:
        refuse_outside_verb(f"{self.model.__name__}.delete")
        return super().delete()

    def bulk_create(self, *args: Any, **kwargs: Any) -> Any:
        refuse_outside_verb(f"{self.model.__name__}.bulk_create")
        return super().bulk_create(*args, **kwargs)

    def bulk_update(self, *args: Any, **kwargs: Any) -> int:
        refuse_outside_verb(f"{self.model.__name__}.bulk_update")
        return super().bulk_update(*args, **kwargs)


_FromGuardedQuerySet = models.Manager.from_queryset(GuardedQuerySet)


class GuardedManager(_FromGuardedQuerySet):
    """A class of its own, so that the type checker finds it from every app."""


class GuardedModel(models.Model):
    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        refuse_outside_verb(f"{type(self).__name__}.save")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        refuse_outside_verb(f"{type(self).__name__}.delete")
        return super().delete(*args, **kwargs)

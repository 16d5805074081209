"""Transactions that survive the servers' ordinary refusals."""

import random
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection, transaction

P = ParamSpec("P")
R = TypeVar("R")
LOCK_WAIT, DEADLOCK = 1205, 1213
# Too many connections, shutting down, interrupted, refused, gone, lost, killed (MariaDB), closed for idling.
AWAY = frozenset({1040, 1053, 1317, 2002, 2003, 2006, 2013, 2055, 1927, 4031, LOCK_WAIT, DEADLOCK})
TRIES = 5
_unit: ContextVar[str | None] = ContextVar("unit", default=None)


@contextmanager
def one_unit(unit: str | None = None) -> Iterator[str]:
    """What is written within belongs together, over any number of transactions; yields its id, 32 hex digits. Within
    another it is the same one. With an id: one that goes on after a pause."""
    kept = _unit.get()
    if kept is not None:
        yield kept
        return
    token = _unit.set(unit or uuid.uuid4().hex)
    try:
        yield _unit.get() or ""
    finally:
        _unit.reset(token)


def current_unit() -> str | None:
    return _unit.get()


def is_retryable(error: OperationalError) -> bool:
    """True for a MySQL deadlock or lock wait: the server rolled back and asks to be asked again."""
    return bool(error.args) and error.args[0] in (LOCK_WAIT, DEADLOCK)


def is_away(error: BaseException | None) -> bool:
    """True where the database did not answer, or was busy: nothing was wrong with what it was asked."""
    if isinstance(error, InterfaceError):
        return True
    # The driver's own, too: closing a cursor of a lost connection raises past Django, which would wrap it.
    if type(error).__name__ != "OperationalError":
        return False
    assert error is not None
    return (bool(error.args) and error.args[0] in AWAY) or "locked" in str(error)


def transactional(function: Callable[P, R]) -> Callable[P, R]:
    """Run in one transaction and as one unit; as the outermost one, again after a deadlock (inside another the whole
    must retry)."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with one_unit():
            return in_transaction(*args, **kwargs)

    def in_transaction(*args: P.args, **kwargs: P.kwargs) -> R:
        if connection.in_atomic_block:
            with transaction.atomic():
                return function(*args, **kwargs)
        for attempt in range(TRIES):
            try:
                with transaction.atomic():
                    return function(*args, **kwargs)
            except OperationalError as error:
                if attempt == TRIES - 1 or not is_retryable(error):
                    raise
                time.sleep(random.uniform(0.01, 0.05) * 2**attempt)
        raise AssertionError("unreachable")

    return run

"""Transactions that survive the servers' ordinary refusals."""

import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import OperationalError, connection, transaction

P = ParamSpec("P")
R = TypeVar("R")
LOCK_WAIT, DEADLOCK = 1205, 1213
TRIES = 5


def is_retryable(error: OperationalError) -> bool:
    """True for a MySQL deadlock or lock wait: the server rolled back and asks to be asked again."""
    return bool(error.args) and error.args[0] in (LOCK_WAIT, DEADLOCK)


def transactional(function: Callable[P, R]) -> Callable[P, R]:
    """Run in one transaction; as the outermost one, again after a deadlock (inside another the whole must retry)."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
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

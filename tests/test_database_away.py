"""A page that meets a database which is away says that it is back in a moment, and asks that database nothing more."""

import pytest
from django.db import InterfaceError, OperationalError
from django.test import RequestFactory
from django.utils.functional import SimpleLazyObject

from database.transactions import is_away
from memory_site.views import server_error

AWAY = [
    OperationalError(2013, "Lost connection to server during query"),
    OperationalError(2002, "Can't connect to server on 'mysql' (115)"),
    OperationalError(1053, "Server shutdown in progress"),
    OperationalError("database is locked"),
    InterfaceError(0, ""),
]


class OfTheDriver(Exception):
    """MySQLdb.OperationalError, which is not there where SQLite alone is used."""


OfTheDriver.__name__ = "OperationalError"
AWAY.append(OfTheDriver(2006, ""))
OURS = [OperationalError(1054, "Unknown column 'x'"), OperationalError("no such table: x"), ValueError("x")]


def not_to_be_asked():
    raise OperationalError(2013, "Lost connection to server during query")


def answer_to(error, path):
    request = RequestFactory().get(path)
    request.request_id = "of-this-request"
    request.user = SimpleLazyObject(not_to_be_asked)
    request.session = SimpleLazyObject(not_to_be_asked)
    try:
        raise error
    except Exception:
        return server_error(request)


@pytest.mark.parametrize("error", AWAY, ids=str)
def test_it_is_503_with_a_page_that_needs_no_database(error):
    answer = answer_to(error, "/p/shop/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert "Back in a moment" in answer.content.decode()
    assert "of-this-request" in answer.content.decode()
    assert answer_to(error, "/api/v1/decisions")["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("error", OURS, ids=str)
def test_what_is_our_own_mistake_stays_500(error):
    assert not is_away(error)
    assert answer_to(error, "/p/shop/").status_code == 500

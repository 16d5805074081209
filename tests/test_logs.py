"""Log lines: one a message, with the request's id, and nothing in them that opens a door."""

from __future__ import annotations

import logging

import pytest

from memory_site.logs import SafeLineFilter
from projects.login_links import login_link_for

SAFE = SafeLineFilter()


def line(message: str, *args: object, **extra: object) -> logging.LogRecord:
    record = logging.LogRecord("memory_desk.request", logging.INFO, "", 0, message, args, None)
    record.__dict__.update(extra)
    assert SAFE.filter(record)
    return record


@pytest.mark.django_db
def test_a_login_link_that_still_works_is_in_no_line(client, caplog, curator_user):
    link = login_link_for(curator_user)
    path = link.removeprefix(link.split("/login/")[0])
    token = path.rstrip("/").rsplit("/", 1)[1]
    caplog.set_level(logging.INFO)
    caplog.handler.addFilter(SAFE)
    try:
        assert client.get(path).status_code == 200
        strict = type(client)(enforce_csrf_checks=True)
        assert strict.post(path).status_code == 403
    finally:
        caplog.handler.removeFilter(SAFE)
    assert "/login/" in caplog.text
    assert token not in caplog.text
    assert not any(token in str(value) for record in caplog.records for value in record.__dict__.values())


def test_an_address_cannot_forge_a_line(client):
    forged = "/x\n2026-01-01 INFO memory_desk: all is well\r\x1b[2J\u2028"
    record = line("%s %s 404", "GET", forged, path=forged)
    for text in (record.getMessage(), record.path):
        assert text.isprintable()
        assert "\\n2026" in text


def test_other_lines_stay_as_they_are():
    assert (
        line("took in %d %s written by SQL", 3, "décision").getMessage()
        == "took in 3 décision written by SQL"
    )

"""A text comes back byte for byte, and saving a form in which nobody touched it does not change it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from projects.models import User
from records.models import Revision
from tests.records.samples import make, page_of

pytestmark = [pytest.mark.database, pytest.mark.django_db]
TEXT = "one\r\ntwo  \rthree\t\n\n e\u0301 \u00e9 \ufeff\u200f\U0001f480 end  \n"
LONG = {
    "decision": ("decision", "rationale", "alternatives_considered"),
    "outcome": ("note",),
    "pattern": ("description", "code_example"),
    "pitfall": ("description", "how_to_avoid"),
}
SHORT = {"decision": "title", "outcome": "type", "pattern": "name", "pitfall": "title"}


def untouched(client, address: str) -> dict[str, Any]:
    form = client.get(address).context["form"]
    sent = {}
    for bound in form:
        value = bound.value()
        if value is not None:
            value = str(value)
            sent[bound.name] = re.sub(r"\r\n?|\n", "\r\n", value)
    return sent


@pytest.mark.parametrize("kind", LONG)
def test_an_untouched_text_keeps_its_line_ends(as_curator, agent, project, kind):
    record = make(kind, agent, project, **dict.fromkeys(LONG[kind], TEXT))
    address = f"{page_of(record)}edit/"
    sent = {**untouched(as_curator, address), SHORT[kind]: "renamed", "version": "1"}
    assert as_curator.post(address, sent).status_code == 303
    record.refresh_from_db()
    assert {getattr(record, name) for name in LONG[kind]} == {TEXT}
    assert Revision.objects.filter(node_id=record.node_id).first().changed == [SHORT[kind]]


def test_a_touched_one_is_kept_as_it_was_sent_with_plain_line_ends(as_curator, agent, project):
    record = make("decision", agent, project, decision=TEXT)
    address = f"{page_of(record)}edit/"
    sent = {**untouched(as_curator, address), "decision": "one\r\ntwo", "version": "1"}
    assert as_curator.post(address, sent).status_code == 303
    record.refresh_from_db()
    assert record.decision == "one\ntwo"


@pytest.mark.parametrize("text", ["one\ntwo", "one\r\ntwo", "  one \n"])
def test_the_admin_keeps_them_too(client, agent, project, text):
    client.force_login(User.objects.create_superuser("olga", password="correct horse battery"))
    record = make("decision", agent, project, decision=text)
    sent = {
        "title": "renamed", "decision": re.sub(r"\r\n?|\n", "\r\n", text), "rationale": "", "alternatives_considered": "",
        "status": "accepted", "decided_at_0": "2026-03-15", "decided_at_1": "10:00", "tags": "null",
        "reason": "why", "expected_version": "1",
    }  # fmt: skip
    answer = client.post(reverse("admin:decisions_decision_change", args=[record.pk]), sent)
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    record.refresh_from_db()
    assert (record.title, record.decision) == ("renamed", text)

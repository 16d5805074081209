"""A verb's refusal that no page answered is 403, 409 or 422 with the reason, and never a 500."""

import pytest
from django.urls import reverse

from records import views
from records.errors import Conflict, InvalidInput, NotAllowed, Refused
from tests.records.samples import make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("make_error", "status", "text"),
    [
        (lambda record: NotAllowed("cleo may not"), 403, ""),
        (lambda record: Conflict(record, 7), 409, "someone else saved it first"),
        (lambda record: InvalidInput({"title": ["<script>alert(1)</script>"]}), 422, "&lt;script&gt;"),
        (lambda record: Refused("No.", record.node_id), 422, "No."),
    ],
)
def test_each_refusal_has_its_answer(as_curator, agent, project, monkeypatch, make_error, status, text):
    record = make("decision", agent, project)

    def refuse(*args, **options):
        raise make_error(record)

    monkeypatch.setattr(views, "history_page", refuse)
    answer = as_curator.get(reverse("records:history", args=["shop", record.node_id]))
    assert answer.status_code == status
    assert text in answer.content.decode()
    assert "<script>alert" not in answer.content.decode()
    assert answer["X-Request-ID"] in answer.content.decode()


def test_other_errors_are_not_swallowed(as_curator, agent, project, monkeypatch):
    record = make("decision", agent, project)

    def fail(*args, **options):
        raise ValueError("a bug")

    monkeypatch.setattr(views, "history_page", fail)
    with pytest.raises(ValueError, match="a bug"):
        as_curator.get(reverse("records:history", args=["shop", record.node_id]))

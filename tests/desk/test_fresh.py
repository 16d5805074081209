"""What came since a page was drawn is offered: others' new records, of the project alone, and never pushed."""

import re

import pytest

from decisions.actions import create_decision, edit_decision
from pitfalls.actions import create_pitfall

pytestmark = [pytest.mark.database, pytest.mark.django_db]
BACKEND = "django.contrib.auth.backends.ModelBackend"


def asked_by(page: str) -> str:
    return re.search(r'hx-get="(/p/shop/fresh/[^"]+)"', page)[1].replace("&amp;", "&")


def test_a_list_asks_for_its_kind_and_is_told_how_many(as_curator, agent, curator, project):
    create_decision(actor=agent, project=project, title="First", decision="x")
    address = asked_by(as_curator.get("/p/shop/decisions/").content.decode())
    assert as_curator.get(address).status_code == 204
    create_pitfall(actor=agent, project=project, category="c", title="Elsewhere")
    create_decision(actor=curator, project=project, title="My own", decision="x")
    assert as_curator.get(address).status_code == 204, "another kind, and what one wrote oneself"
    second = create_decision(actor=agent, project=project, title="Second", decision="x")
    edit_decision(actor=agent, decision=second, changes={"decision": "y"})
    answer = as_curator.get(address).content.decode()
    assert re.search(r"\b1 new\b", answer)
    assert 'aria-current="page"' in answer, "the rail is drawn as that of the list"
    inbox = asked_by(as_curator.get("/p/shop/inbox/").content.decode())
    create_pitfall(actor=agent, project=project, category="c", title="More")
    assert re.search(r"\b1 new\b", as_curator.get(inbox).content.decode())


@pytest.mark.parametrize("since", ["", "x", "-1", "1" * 30, "²", "0; DROP"])
def test_what_is_no_number_is_nothing_new(as_curator, agent, project, since):
    create_decision(actor=agent, project=project, title="First", decision="x")
    assert as_curator.get("/p/shop/fresh/", {"since": since, "kind": "<b>", "at": "<b>"}).status_code == 204


def test_more_than_a_hundred_are_not_counted(as_curator, agent, project):
    from decisions.actions import create_decisions

    create_decisions(
        actor=agent, project=project, rows=[{"title": f"T{n}", "decision": "x"} for n in range(102)]
    )
    answer = as_curator.get("/p/shop/fresh/", {"since": "0", "kind": "decision", "at": "decisions"})
    assert "100+ new" in answer.content.decode()


def test_another_projects_records_are_nobodys_news(as_curator, stranger, other_project, project):
    create_decision(actor=stranger, project=other_project, title="Theirs", decision="x")
    assert as_curator.get("/p/shop/fresh/", {"since": "0"}).status_code == 204
    assert as_curator.get("/p/bank/fresh/", {"since": "0"}).status_code == 404

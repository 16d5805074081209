"""The search page and the completion of its box."""

import re
from html import unescape

import pytest
from django.urls import reverse

from decisions.actions import create_decision
from recall.words import keep_words
from records.verbs import review

pytestmark = pytest.mark.django_db

HOSTILE = "Redis <script>alert(1)</script> cache"


@pytest.fixture
def page(client, viewer_user, project):
    client.force_login(viewer_user)

    def get(text=None, name="search", **headers):
        return client.get(reverse(name, args=["shop"]), {} if text is None else {"q": text}, headers=headers)

    return get


@pytest.fixture
def decision(agent, project):
    made = create_decision(
        actor=agent,
        project=project,
        title=HOSTILE,
        decision=f"We cache. {HOSTILE}",
        tags=["redis", "two words"],
    )
    keep_words([made])
    return made


def test_a_hit_says_why_it_was_found_and_marks_the_words(page, decision):
    text = page("redis cache").content.decode()
    assert f"/decisions/{decision.pk}/" in text
    assert "<mark>Redis</mark>" in text
    assert "<script>alert" not in text
    assert "words" in text
    assert 'value="redis cache"' in text  # in the box of the frame, to go on from


def test_without_a_question_the_page_tells_how_to_ask(page):
    text = page().content.decode()
    assert "How to search" in text
    assert "decided:" in text
    assert page("   ").status_code == 200


def test_a_wrong_filter_is_explained(page, decision):
    answer = page("redis foo:bar")
    assert answer.status_code == 422
    assert "There is no filter “foo”" in answer.content.decode()
    assert f"/decisions/{decision.pk}/" not in answer.content.decode()


def test_nothing_found_says_what_to_do(page, decision):
    assert "Nothing here answers that" in page("is:hidden zanzibar").content.decode()


def test_htmx_gets_the_results_alone(page, decision):
    answer = page("redis", **{"HX-Request": "true"})
    assert "<html" not in answer.content.decode()
    assert "HX-Request" in answer["Vary"]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("sta", ["started:", "status:"]),
        ("redis status:acc", ["redis status:accepted"]),
        ("status:accepted,pen", ["status:accepted,pending"]),
        ("tag:t", ['tag:"two words"']),
        ("by:ord", ["by:order-bot"]),
        ("decided:last-w", ["decided:last-week"]),
        ("is:quar", ["is:quarantined"]),
        ("kind:pit", ["kind:pitfall"]),
        ("redis ", []),
        ("foo:b", []),
        ("", []),
    ],
)
def test_the_box_is_completed_with_what_there_is(page, decision, typed, offered):
    text = page(typed, "search_complete").content.decode()
    assert [unescape(option) for option in re.findall(r'<option value="([^"]*)">', text)] == offered


def test_another_project_is_absent(client, stranger_user, project):
    client.force_login(stranger_user)
    assert client.get(reverse("search", args=["shop"]), {"q": "redis"}).status_code == 404
    assert client.get(reverse("search_complete", args=["shop"]), {"q": "st"}).status_code == 404


def test_what_hidden_memories_brought_is_not_offered(page, decision, agent, curator, project):
    create_decision(
        actor=agent, project=project, title="Odd", decision="x", tags=['a"b', "a,b", "a\u00a0b", "a%"]
    )
    bad = create_decision(actor=agent, project=project, title="Bad", decision="x", tags=["two-evil"])
    review([bad], "quarantined", actor=curator)

    def offered(typed):
        text = page(typed, "search_complete").content.decode()
        return [unescape(option) for option in re.findall(r'<option value="([^"]*)">', text)]

    assert offered("tag:two") == ['tag:"two words"']
    assert offered("tag:a") == ["tag:a%", "tag:a,b", 'tag:"a\u00a0b"']
    assert offered("tag:a,") == ["tag:a,b"]
    assert offered("tag:%") == offered("by:%") == offered("tag:_") == []

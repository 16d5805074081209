"""The Recall page: the very pack that the API answers, with its reasons."""

import re
from html import unescape
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from desk.context_pack.forms import LONGEST_TEXT
from pitfalls.actions import create_pitfall
from recall.words import keep_words
from records.actor import Actor
from records.reads import flush_reads, note_reads
from records.verbs import review
from tests.agent_api.conftest import ApiClient
from tests.conftest import make_token

pytestmark = pytest.mark.django_db

HOSTILE = "Cache <script>alert(1)</script> stampede"
TASK = "A cache stampede after a restart"


@pytest.fixture
def page(client, viewer_user, project):
    client.force_login(viewer_user)

    def get(headers=None, **asked):
        return client.get(reverse("recall:page", args=["shop"]), asked, headers=headers or {})

    return get


@pytest.fixture
def pitfall(agent, project):
    made = create_pitfall(
        actor=agent, project=project, category="caching", title=HOSTILE, severity="critical",
        description="All orders miss at once. The database falls over.",
    )  # fmt: skip
    keep_words([made])
    return made


def markdown_of(response) -> str:
    shown = re.search(
        r'recall-markdown">.*?<code data-copy-text>(.*?)</code>', response.content.decode(), re.DOTALL
    )
    assert shown
    return unescape(shown[1])


def test_it_shows_what_the_api_answers_byte_for_byte(page, pitfall, project):
    api = ApiClient(make_token(project, ("read",))[1])
    for options in (
        {},
        {"budget": 300},
        {"kinds": ["pitfall"], "k": 2},
        {"reviewed_only": True},
        {"agent": "x"},
    ):
        answered = api.post("/context", {"task": TASK, **options}).data
        shown = {name: "on" if value is True else value for name, value in options.items()}
        assert markdown_of(page(text=TASK, **shown)) == answered["markdown"]


def test_each_item_has_its_scores_trust_tokens_and_reason(page, pitfall):
    text = page(text=TASK).content.decode()
    assert f"/pitfalls/{pitfall.pk}/" in text
    assert "<script>alert" not in text
    for said in ("score", "relevance", "trust", "tokens", "unreviewed", "words", "of the category caching"):
        assert said in text, said


def test_how_often_it_was_served_this_week(page, pitfall, agent):
    assert "not served this week" in page(text=TASK).content.decode()
    for _time in range(3):
        note_reads([pitfall.node_id], actor=agent, door="api.context")
    flush_reads()
    assert "served 3 times this week" in page(text=TASK).content.decode()


def test_to_look_leaves_no_read(page, pitfall):
    page(text=TASK)
    assert flush_reads() == 0


def test_what_is_left_out_has_its_reason(page, pitfall, curator):
    text = page(text=TASK, reviewed_only="on").content.decode()
    assert "no person approved it" in text
    review([pitfall], "approved", actor=curator)
    assert "no person approved it" not in page(text=TASK, reviewed_only="on").content.decode()


def test_the_call_to_copy_asks_the_same(page, pitfall):
    text = unescape(page(text='It\'s "cold"', budget=700, kinds=["pitfall"]).content.decode())
    assert "/api/v1/context" in text
    assert '"budget": 700' in text
    assert "MEMORY_DESK_TOKEN" in text


def test_nothing_is_asked_at_first(page):
    text = page().content.decode()
    assert "Ask as an agent would" in text
    assert "As the agent gets it" not in text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"text": TASK, "budget": 99}, "greater than or equal to 100"),
        ({"text": TASK, "k": "many"}, "whole number"),
        ({"text": TASK, "kinds": "outcome"}, "Select a valid choice"),
        ({"text": TASK, "colour": "red"}, "There is no parameter “colour”"),
        ({"text": "x" * (LONGEST_TEXT + 1)}, "at most 2000 characters"),
        ({"text": "a\x00b"}, "Null characters are not allowed"),
        ({"text": "  "}, "This field is required"),
        ({"budget": 500}, "This field is required"),
    ],
)
def test_what_cannot_be_asked_is_explained(page, asked, said):
    for headers in ({}, {"HX-Request": "true"}):
        answer = page(headers, **asked)
        assert answer.status_code == 422
        assert said in unescape(answer.content.decode())


def test_htmx_gets_the_pack_alone(page, pitfall):
    answer = page({"HX-Request": "true"}, text=TASK)
    assert "<html" not in answer.content.decode()
    assert "HX-Request" in answer["Vary"]


def test_the_rail_leads_there(page):
    text = page().content.decode()
    assert re.search(r'href="/p/shop/recall/" aria-current="page" data-go="c"', text)


def test_a_session_that_is_not_there_is_said(page, pitfall):
    assert "There is no session “gone”" in page(text=TASK, session="gone").content.decode()


def test_the_same_question_fits_an_address():
    assert len(urlencode({"text": "naïve " * (LONGEST_TEXT // 6)})) < 8000


def test_the_count_of_statements_does_not_grow_with_the_items(
    page, pitfall, agent, project, django_assert_max_num_queries
):
    assert isinstance(agent, Actor)
    for number in range(12):
        keep_words([create_pitfall(actor=agent, project=project, category="caching", title=f"Cache stampede {number}",
                                   description=f"After restart {number}.", severity="high")])  # fmt: skip
    with django_assert_max_num_queries(45):
        page(text=TASK, k=20, budget=4000)

"""The graph page and its JSON: the table twin, filters in the address, every wrong parameter explained."""

import json

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from decisions.actions import create_decision, record_outcome
from recall.models import Similarity
from records.links import link
from records.verbs import review

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]


@pytest.fixture
def records(curator, project):
    """dec A contradicts B, is like C (0.9) and D (0.55), and led to an outage."""
    made = [
        create_decision(actor=curator, project=project, title=f"<b>{name}</b>", decision="d")
        for name in "ABCD"
    ]
    link(made[0], "CONTRADICTS", made[1], actor=curator)
    record_outcome(actor=curator, decision=made[0], type="outage", success_rate=0.2)
    for other, score in ((made[2], 0.9), (made[3], 0.55)):
        for source, target in ((made[0], other), (other, made[0])):
            Similarity.objects.create(
                project_id=project.pk, source=source.node_id, target=target.node_id, score=score
            )
    return made


@pytest.fixture
def browser(client, viewer_user):
    client.force_login(viewer_user, backend="django.contrib.auth.backends.ModelBackend")
    return client


PAGE = "/p/shop/graph/"
DATA = "/p/shop/graph/data"
PATH = "/p/shop/graph/path"


def test_the_addresses_are_the_ones_that_people_share():
    assert [reverse(f"graph:{name}", args=["shop"]) for name in ("neighbourhood", "data", "path")] == [
        PAGE,
        DATA,
        PATH,
    ]


def test_the_page_says_in_a_table_what_the_picture_shows(browser, records):
    answer = browser.get(PAGE, {"node": records[0].node_id, "score": "0.5", "depth": 1})
    rows = answer.context["edges"]
    assert [(row["key"], row["score"]) for row in rows] == [
        ("CONTRADICTS", None),
        ("LEADS_TO", None),
        ("SIMILAR_TO", 0.9),
        ("SIMILAR_TO", 0.55),
    ]
    html = answer.content.decode()
    assert "5 of 5 nodes" in html
    assert "&lt;b&gt;C&lt;/b&gt;" in html
    assert "<b>C</b>" not in html
    assert f'href="/p/shop/decisions/{records[2].pk}/"' in html
    assert json.loads(answer.context["first"])["center"] == records[0].node_id


def test_each_filter_filters(browser, records):
    def ids(**asked):
        answer = browser.get(DATA, {"node": records[0].node_id, **asked})
        assert answer.status_code == 200, answer.content
        return [node["id"] for node in answer.json()["nodes"]][1:]

    b, c, d = (record.node_id for record in records[1:])
    out = ids(kind="outcome")[0]
    assert ids(score="0.5") == [b, out, c, d]
    assert ids() == [b, out, c], "0.60 is where likeness begins to mean something"
    assert ids(relation="SIMILAR_TO") == [c]
    assert ids(relation=["CONTRADICTS", "LEADS_TO"]) == [b, out]
    assert ids(kind="decision") == [b, c]
    assert ids(cap=2) == [b]
    assert ids(known=f"{records[0].node_id},{b}")[0] == c


def test_hidden_records_are_shown_only_where_asked(browser, records, curator):
    review([records[2]], "rejected", actor=curator, reason="wrong")
    asked = {"node": records[0].node_id}
    assert records[2].node_id not in browser.get(DATA, asked).content.decode()
    shown = browser.get(DATA, {**asked, "show": "all"}).json()["nodes"]
    assert [node["active"] for node in shown if node["id"] == records[2].node_id] == [False]


def test_the_json_has_what_the_picture_needs(browser, records):
    answer = browser.get(DATA, {"node": records[0].node_id, "depth": 1}).json()
    assert {key: answer[key] for key in ("center", "answered_by", "total", "truncated", "at_least")} == {
        "center": records[0].node_id, "answered_by": "relational", "total": 4, "truncated": False, "at_least": False,
    }  # fmt: skip
    assert answer["nodes"][1] == {
        "id": records[1].node_id, "kind": "decision", "title": "<b>B</b>", "status": "accepted", "review_state": "approved",
        "active": True, "url": f"/p/shop/decisions/{records[1].pk}/", "degree": 1, "has_more": False, "hop": 1,
    }  # fmt: skip
    assert answer["edges"][0] == {
        "source": records[0].node_id,
        "target": records[1].node_id,
        "relation": "CONTRADICTS",
        "score": None,
    }


def test_a_long_question_can_be_posted_and_still_only_reads(viewer_user, records):
    client = Client(enforce_csrf_checks=True)
    client.force_login(viewer_user, backend="django.contrib.auth.backends.ModelBackend")
    known = ",".join([records[0].node_id, *(f"run_{number:032x}" for number in range(290))])
    asked = {"node": records[0].node_id, "depth": 1, "known": known}
    assert client.post(DATA, asked).status_code == 403, "without its CSRF token"
    token = client.get(PAGE).context["csrf_token"]
    answer = client.post(DATA, asked, headers={"X-CSRFToken": str(token)})
    assert len(answer.json()["nodes"]) == 3


def test_the_path_between_two_records(browser, records):
    answer = browser.get(
        PATH, {"node": records[1].node_id, "to": records[2].node_id, "score": "0.6", "depth": 2, "cap": 30}
    )
    assert [node["id"] for node in answer.json()["nodes"]] == [records[n].node_id for n in (1, 0, 2)]
    assert browser.get(PATH, {"node": records[1].node_id, "to": records[3].node_id}).json()["nodes"] == []
    assert browser.get(PATH, {"node": records[1].node_id}).json()["errors"] == {
        "to": ["This field is required."]
    }
    assert browser.get(PATH, {"node": records[1].node_id, "to": "dec_999"}).status_code == 404


def test_without_a_record_it_begins_at_the_newest_that_has_a_relation(browser, records, curator, project):
    create_decision(actor=curator, project=project, title="Alone", decision="d")
    assert browser.get(PAGE).context["center"]["node_id"] == records[3].node_id


def test_an_empty_project_says_what_to_do(browser, project):
    answer = browser.get(PAGE)
    assert answer.status_code == 200
    assert "import_adrs PATH --project shop" in answer.content.decode()


BAD = [
    {"node": "nonsense"}, {"node": "dec_01"}, {"node": "mem_" + "0" * 32}, {"node": "dec_1\x00"}, {"node": "x" * 5000}, {"node": "dec_1; DROP"},
    {"depth": "0"}, {"depth": "4"}, {"depth": "two"}, {"score": "1.2"}, {"score": "-1"}, {"score": "nan"}, {"score": "inf"}, {"score": "0,6"},
    {"relation": "HATES"}, {"relation": "similar_to"}, {"kind": "memory"}, {"kind": "dec"}, {"cap": "0"}, {"cap": "301"}, {"cap": "9" * 400},
    {"show": "nothing"}, {"colour": "red"},
]  # fmt: skip


@pytest.mark.parametrize(
    "bad", BAD, ids=lambda bad: "-".join(f"{key}={value[:12]!r}" for key, value in bad.items())
)
def test_a_wrong_parameter_is_explained_on_the_page_and_in_the_json(browser, records, bad):
    page = browser.get(PAGE, bad)
    assert page.status_code == 400
    assert page.context["problems"]
    answer = browser.get(DATA, {"node": records[0].node_id, **bad})
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")
    assert answer.json()["errors"]


@pytest.mark.parametrize(
    "bad", [{}, {"known": "dec_1,?"}, {"known": ",".join(["dec_1"] * 301)}, {"view": "table"}]
)
def test_the_json_refuses_what_only_it_takes(browser, records, bad):
    asked = {"node": records[0].node_id, **bad} if bad else {}
    assert browser.get(DATA, asked).status_code == 400


def test_what_the_picture_unfolded_is_kept_in_the_address(browser, records):
    asked = {
        "node": records[0].node_id,
        "expand": [records[1].node_id, records[2].node_id],
        "selected": records[1].node_id,
        "view": "table",
    }
    assert browser.get(PAGE, asked).status_code == 200


@pytest.mark.parametrize("absent", ["dec_999999", "ses_1", "run_" + "f" * 32])
def test_a_record_that_is_not_here_is_said_to_be_absent(browser, records, absent):
    page = browser.get(PAGE, {"node": absent})
    assert page.status_code == 404
    assert f"{absent} is not in this project." in page.content.decode()
    answer = browser.get(DATA, {"node": absent})
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")


def test_another_projects_record_is_as_absent_as_a_missing_one(client, stranger_user, records, other_project):
    client.force_login(stranger_user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/p/bank/graph/", {"node": records[0].node_id}).status_code == 404
    assert client.get("/p/bank/graph/data", {"node": records[0].node_id}).status_code == 404


@pytest.mark.parametrize("url", [PAGE, DATA, PATH])
def test_who_may_see_it(client, stranger_user, project, url):
    assert client.get(url).status_code == 302
    client.force_login(stranger_user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(url).status_code == 404


@pytest.mark.parametrize(("url", "method"), [(PAGE, "post"), (DATA, "put"), (DATA, "delete"), (PATH, "post")])
def test_a_wrong_method_is_refused(browser, project, url, method):
    assert getattr(browser, method)(url).status_code == 405


def test_the_number_of_queries_does_not_grow_with_the_neighbourhood(
    browser, records, curator, project, django_assert_max_num_queries
):
    def ask():
        cache.clear()  # the rail's counts are kept for seconds, also those of an earlier test
        return browser.get(PAGE, {"node": records[0].node_id, "depth": 2, "score": "0.5", "cap": 100})

    def grow(numbers):
        for number in numbers:
            more = create_decision(actor=curator, project=project, title=f"More {number}", decision="d")
            record_outcome(actor=curator, decision=more, type="success")
            link(more, "RELATES_TO", records[1], actor=curator)
            Similarity.objects.create(
                project_id=project.pk, source=records[0].node_id, target=more.node_id, score=0.7
            )

    grow([0])
    with CaptureQueriesContext(connection) as few:
        ask()
    grow(range(1, 25))
    with django_assert_max_num_queries(len(few)):
        assert len(ask().context["hood"].nodes) > 50

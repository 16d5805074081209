"""The filter `q`: a line of search, with words, phrases and filters in it."""

import pytest
from django.http import QueryDict

from decisions.models import Decision
from recall.models import SearchText
from recall.tokenise import search_text
from tests.records.filter_sets import FILTERSETS, found
from tests.records.samples import make

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_words_with_the_wildcards_of_sql_are_words(agent, project):
    percent, plain = (
        make("decision", agent, project, "100 % sure_"),
        make("decision", agent, project, "100 x sure!"),
    )
    assert found("decision", project, "q=%25") == {percent.pk}
    assert found("decision", project, "q=sure_") == {percent.pk}
    assert found("decision", project, "q=sure+100") == {percent.pk, plain.pk}


LINES = {
    "redis status:accepted confidence:>0.5": None,
    "cache status:rejected": set(),
    "cache status:accepted tag:x": {"one"},
    "cache": {"one", "two"},
    '"in redis"': {"one"},
    "cache -redis": {"two"},
    "by:order-bot cache decided:2020-01-01": set(),
    "kind:pattern cache": None,
    "colour:red": None,
}


@pytest.mark.parametrize("line", LINES)
def test_q_is_a_line_of_search(agent, project, line):
    kept = {
        "one": make("decision", agent, project, "Cache in Redis", tags=["x"]).pk,
        "two": make("decision", agent, project, "Cache in Valkey").pk,
    }
    make("decision", agent, project, "Serve by Nginx")
    query = QueryDict(mutable=True)
    query["q"] = line
    filterset = FILTERSETS["decision"](query, Decision.objects.filter(project=project), project_id=project.pk)
    wanted = LINES[line]
    if wanted is None:
        assert filterset.problems["q"]
        assert not filterset.rows().exists()
    else:
        assert not filterset.problems
        assert {row.pk for row in filterset.rows()} == {kept[name] for name in wanted}


@pytest.mark.django_db(transaction=True)  # InnoDB's index of words holds what is committed
def test_q_finds_words_of_the_text_and_ids(agent, project):
    inside = make("decision", agent, project, "Plain title")
    other = make("decision", agent, project, "Another title")
    SearchText.objects.create(
        node_id=inside.node_id, kind="decision", project_id=project.pk, content_hash="x", words=search_text("jitter of retries")
    )  # fmt: skip
    assert found("decision", project, "q=jitter") == {inside.pk}
    assert (
        found("decision", project, "q=jitter+title") == set()
    )  # the index has all of the text, title included
    assert found("decision", project, "q=title+-jitter") == {other.pk}
    assert found("decision", project, f"q={other.node_id}") == {other.pk}
    assert found("decision", project, "q=%22of+retries%22") == {inside.pk}


def test_a_filter_that_contradicts_the_line_is_told(project):
    filterset = FILTERSETS["decision"](QueryDict("q=by:ada+x&by=bob"), Decision.objects.all())
    assert filterset.problems["q"]

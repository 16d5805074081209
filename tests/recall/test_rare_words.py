"""How rare words are: what the index is asked for, and how what it finds is ranked."""

import pytest

from decisions.actions import create_decision
from recall import frequency, fulltext, word_rankings
from recall.models import SearchText
from recall.tokenise import query_terms
from recall.words import keep_words
from tests.recall.searched import found

# MySQL's full-text index holds what is committed.
pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def counted(texts, agent, project, monkeypatch):
    """A desk of which it is known how rare each word is; `common` stands in every one of its new records."""
    monkeypatch.setattr(frequency, "FEW", 0)
    made = [
        create_decision(
            actor=agent, project=project, title=f"Common number{at}", decision=f"Common word{at % 5} pool"
        )
        for at in range(20)
    ]
    keep_words(made)
    return made


def asked_for(monkeypatch):
    asked = []

    def matching(expression, project_ids, count):
        asked.append(expression)
        return really(expression, project_ids, count)

    really = fulltext.matching
    monkeypatch.setattr(fulltext, "matching", matching)
    return asked


def test_the_index_is_asked_for_the_rarest_words_alone(counted, project, monkeypatch):
    monkeypatch.setattr(word_rankings, "MOST_TEXTS_OF_WORDS_ALONE", 8)
    monkeypatch.setattr(word_rankings, "FEW_TEXTS", 0)
    asked = asked_for(monkeypatch)
    got = found("common pool number7 word2 missing elsewhere nowhere", project)
    every, some = asked
    assert every.count('"') == 2 * word_rankings.MOST_ASKED_AT_ONCE
    assert "common" not in every
    assert "number7" in some
    assert "missing" in some
    assert "word2" in some
    assert "common" not in some
    assert "pool" not in some
    # number7 also says word2: ranked by all of the words, it is before those that say word2 alone.
    assert got[0] == counted[7].node_id
    assert set(got) == {counted[at].node_id for at in (2, 7, 12, 17)}


def test_where_it_is_not_known_how_rare_words_are_all_are_asked_for(texts, project, monkeypatch):
    asked = asked_for(monkeypatch)
    terms = query_terms("cache aside with redis keeps latency low")
    known = frequency.frequencies()
    assert word_rankings._with_all([project.pk], known, terms, (), (), 100) == [texts["plain"].node_id]
    assert [one.count('"') for one in asked] == [2 * len(terms)]


def test_a_word_that_few_texts_have_is_asked_for_alone_and_the_others_are_read(counted, project, monkeypatch):
    monkeypatch.setattr(word_rankings, "FEW_TEXTS", 4)
    asked = asked_for(monkeypatch)
    terms = query_terms("common number7 word2")
    known = frequency.frequencies()
    assert word_rankings._with_all([project.pk], known, terms, (), (), 100) == [counted[7].node_id]
    assert word_rankings._with_all([project.pk], known, query_terms("number7 word3"), (), (), 100) == []
    every = word_rankings._with_all([project.pk], known, query_terms("common pool"), (), (), 100)
    assert every == [one.node_id for one in counted]
    assert [one.count('"') for one in asked] == [2, 2, 4]


@pytest.mark.parametrize("few", [0, 50])
def test_of_many_words_those_with_all_of_them_are_found_whatever_the_index_was_asked(
    counted, project, monkeypatch, few
):
    monkeypatch.setattr(word_rankings, "FEW_TEXTS", few)
    known = frequency.frequencies()
    terms = query_terms("common pool number7 word2 common7 pool7")
    assert word_rankings._with_all([project.pk], known, terms, (), (), 100) == []
    terms = query_terms("number7 common word2 pool Common-number7 word2-pool")
    assert word_rankings._with_all([project.pk], known, terms, (), (), 100) == [counted[7].node_id]
    # More than are looked at have the rarest of the words: the index says which have all of them.
    terms = query_terms("common pool word2 word2-pool Common-number7 number7")
    assert word_rankings._with_all([project.pk], known, terms, (), (), 1) == [counted[7].node_id]


def test_what_meaning_finds_is_ranked_by_its_words_too(counted, project, monkeypatch):
    monkeypatch.setattr(word_rankings, "MOST_TEXTS", 1)
    terms, other = query_terms("number7 pool"), [counted[3].node_id]
    known = frequency.frequencies()
    assert word_rankings._with_some([project.pk], known, terms, 100, lambda: other) == [
        counted[7].node_id,
        *other,
    ]


def test_how_rare_a_word_is_is_counted_once_in_some_minutes(counted, django_assert_num_queries, monkeypatch):
    frequency.forget_frequencies()
    with django_assert_num_queries(2):
        known = frequency.frequencies()
    assert known.of("common") == pytest.approx(20, rel=0.1)
    assert known.of("number7") < 2
    assert known.rarest_of(query_terms("common-number7")[0]) == "number7"
    with django_assert_num_queries(0):
        frequency.frequencies()
    monkeypatch.setattr(frequency, "KEPT_SECONDS", -1)
    with django_assert_num_queries(2):
        frequency.frequencies()


def test_rewritten_texts_leave_gaps_among_the_ids(counted, monkeypatch):
    every = {*SearchText.objects.values_list("pk", flat=True)}
    SearchText.objects.filter(pk__in=sorted(every)[1:-10]).delete()
    monkeypatch.setattr(frequency, "SAMPLED", 10)
    frequency.forget_frequencies()
    known = frequency.frequencies()
    assert known.texts == pytest.approx(11, abs=4)
    assert known.sampled >= 4


def test_of_equal_texts_the_oldest_come_first(counted, project):
    terms = query_terms("common")
    ids = [one.node_id for one in counted]
    assert fulltext.matching(fulltext.all_of(terms), [project.pk], 5) == ids[:5]
    assert fulltext.matching(fulltext.all_of(terms), [project.pk], 100) == ids

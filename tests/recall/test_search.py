"""Search as people expect it, on each database: scripts, accents, identifiers, ids, phrases, filters, meaning."""

from __future__ import annotations

import time

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from decisions.actions import create_decision
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from recall import search as core
from recall.encoders import EncoderUnavailable
from recall.excerpts import excerpt, marked
from recall.models import SearchText
from recall.search import _Allowed, search
from recall.words import forget_words, keep_words
from records.kinds import all_kinds
from records.models import ReviewState
from records.query_language import parse
from records.verbs import review
from tests.recall.searched import found
from tests.records.samples import make, write_as_sql

# MySQL's full-text index holds what is committed.
pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def test_words_are_found_as_people_expect(texts, project):
    for asked, name in {
        "缓存": "chinese", "延迟": "chinese", "订单 服务": "chinese", "缓": "chinese",
        "キャッシュ": "japanese", "注文": "japanese", "캐시": "korean", "कैश": "hindi", "उपयोग": "hindi",
        "configuração": "portuguese", "configuracao": "portuguese", "CARTÃO": "portuguese", "cartao credito": "portuguese",
        "getUserById": "identifiers", "getUser": "identifiers", "user": "identifiers", "get_user": "identifiers",
        "order_total_cents": "identifiers", "total cents": "identifiers", "retry-after": "identifiers",
        "retry after": "identifiers", "httpserver": "identifiers", "server": "identifiers", "k8s": "identifiers",
        "Go": "identifiers", "who": "stops", "the what": "stops", "🚀 ship": "emoji", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢": "emoji",
        "unicode": "emoji", "aside": "plain", '"cache aside"': "plain", "service latency": "plain",
    }.items():  # fmt: skip
        assert found(asked, project)[:1] == [texts[name].node_id], asked


def test_a_phrase_holds_and_a_word_may_be_left_out(texts, project):
    assert found('"aside cache"', project) == []
    assert texts["plain"].node_id not in found("cache -redis", project)
    assert found("redis -aside", project) == [texts["chinese"].node_id]
    assert found('"prices from a cache"', project) == [texts["plain"].node_id]


def test_a_word_is_left_out_without_any_other_word(texts, project):
    everything = found("kind:decision", project)
    assert set(everything) - set(found("kind:decision -redis", project)) == {
        texts["plain"].node_id, texts["chinese"].node_id,
    }  # fmt: skip
    assert found("kind:decision -redis", project) == [
        one for one in everything if one in found("kind:decision -redis", project)
    ]


def test_a_word_left_out_leaves_its_place_to_others_and_says_whether_there_are_more(texts, project):
    two = search([project.pk], parse("kind:decision -emoji -getUserById"), limit=2, meaning=False)
    assert (len(two.hits), two.more) == (2, True)
    every = search([project.pk], parse("kind:decision -rocket"), limit=len(texts) - 1, meaning=False)
    assert (len(every.hits), every.more) == (len(texts) - 1, False)


def test_a_long_phrase_is_searched_by_its_beginning(texts, project):
    for asked in (
        '"' + "redis cache " * 330 + '"',
        '"' + "缓存" * 1900 + '"',
        "redis " + "getUserById" * 300,
    ):
        search([project.pk], parse(asked), meaning=False)
    long = f'"Serve prices from a cache {"x " * 300}"'
    assert found(long, project) == []


def test_an_id_comes_first_and_all_the_words_before_some(texts, project):
    one = texts["stops"].node_id
    assert found(f"redis {one}", project)[0] == one
    assert found(one.upper(), project) == [one]
    assert found("dec_999999", project) == []
    assert found("redis latency aside", project)[0] == texts["plain"].node_id


def test_only_ones_own_projects_and_only_active_memories(texts, project, other_project, curator):
    assert search([other_project.pk], parse("redis"), meaning=False).hits == []
    assert search([], parse("redis"), meaning=False).hits == []
    review([texts["plain"]], "rejected", actor=curator, reason="Wrong.")
    assert texts["plain"].node_id not in found("aside", project)
    assert found("aside is:hidden", project) == [texts["plain"].node_id]
    assert found("aside is:rejected", project) == [texts["plain"].node_id]


@pytest.mark.parametrize("kind", [kind for kind in all_kinds() if kind.filterset], ids=lambda kind: kind.name)
def test_a_line_without_filters_passes_what_a_filterset_asked_nothing_does(kind, agent, project):
    for state in ReviewState.values:
        write_as_sql(make(kind.name, agent, project, title=f"Cache {state}"), review_state=state)
    write_as_sql(make(kind.name, agent, project, title="Cache put away"), archived_at=timezone.now())
    allowed = _Allowed([project.pk], parse("cache"), ())
    rows = kind.model.objects.filter(project=project)
    for show in ("", "hidden"):
        asked = kind.filterset(QueryDict(f"show={show}" if show else ""), rows, project_id=project.pk)
        expected = {one.node_id for one in asked.rows()}
        assert allowed._passing(kind, list(rows.values_list("pk", flat=True)), show=show) == expected
        assert 0 < len(expected) < rows.count()


def test_whether_a_record_passes_is_asked_by_its_key(texts, project, other_project):
    allowed = _Allowed([project.pk], parse("cache"), ())
    with CaptureQueriesContext(connection) as asked:
        passed = allowed.among([record.node_id for record in texts.values()])
    assert passed == {record.node_id for record in texts.values()}
    assert _Allowed([other_project.pk], parse("cache"), ()).among(passed) == set()
    # An index over the project would be walked whole, on SQLite, where it covers the columns.
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {asked[0]['sql']}")
            assert "INTEGER PRIMARY KEY" in str(cursor.fetchall())


def test_many_that_do_not_pass_leave_their_places_to_others(agent, project):
    records = [
        create_decision(actor=agent, project=project, title=f"Totals {n}", decision="Cache the totals.")
        for n in range(60)
    ]
    keep_words(records)
    best = found("cache totals", project, limit=60)
    assert len(best) == 60
    for record in records:
        if record.node_id in best[:50]:
            write_as_sql(record, review_state="rejected")
    answer = search([project.pk], parse("cache totals"), limit=5, meaning=False)
    assert [hit.record.node_id for hit in answer.hits] == best[50:55]
    assert answer.more
    assert answer.hidden == 50


def test_filters_are_the_kinds_own(texts, project, agent):
    pattern = create_pattern(
        actor=agent, project=project, category="caching", name="Redis cache aside", confidence=0.9
    )
    pitfall = create_pitfall(
        actor=agent, project=project, category="caching", title="Redis stampede", severity="critical"
    )
    keep_words([pattern, pitfall])
    assert set(found("redis category:caching", project)) == {pattern.node_id, pitfall.node_id}
    assert found("redis severity:critical,high", project) == [pitfall.node_id]
    assert found("confidence:>0.8", project) == [pattern.node_id]
    assert found("confidence:>0.9", project) == []
    assert found("kind:pattern redis", project) == [pattern.node_id]
    # A status of decisions alone: runs, which have others, are not a problem.
    assert texts["plain"].node_id in found("redis status:accepted", project)
    assert search([project.pk], parse("status:nonsense")).problems
    assert search([project.pk], parse("foo:bar")).problems


def test_meaning_finds_what_no_word_does(texts, project, monkeypatch):
    from graph.worker import Worker

    worker = Worker()
    while worker.work_once():
        pass
    answer = search([project.pk], parse("speeding up price lookups by memorising results"))
    assert answer.hits[0].record.node_id == texts["plain"].node_id
    assert "meaning" in answer.hits[0].why
    assert answer.hits[0].cosine > 0.3

    class Missing:
        name, dimension = "none", 384

        def encode(self, texts):
            raise EncoderUnavailable("The model is not installed.")

    monkeypatch.setattr(core, "configured_encoder", Missing)
    answer = search([project.pk], parse("aside"))
    assert [hit.record.node_id for hit in answer.hits] == [texts["plain"].node_id]
    assert answer.notes == ["Searched by words alone: The model is not installed."]


@pytest.mark.parametrize(
    ("text", "encoder", "equal"),
    [
        ("cache order totals", "onnx", True),
        ("cartão de crédito", "onnx", True),
        ("使用缓存来降低延迟", "onnx", False),
        ("कैश का उपयोग", "onnx", False),
        ("Redis 缓存 в заказах", "onnx", False),
        ("使用缓存来降低延迟", "sentence-transformers:/models/many-languages", True),
    ],
)
def test_what_an_english_model_makes_of_another_script_counts_less_than_words(text, encoder, equal, settings):
    settings.ENCODER = encoder
    rankings = {core.WORDS: ["by words"], core.MEANING: ["by meaning"]}
    scores = core.fused(rankings, core.weights_for(text))
    assert (scores["by words"] == scores["by meaning"]) is equal
    assert scores["by words"] >= scores["by meaning"] > 0


def test_a_search_that_looked_at_the_best_only_says_so(texts, project, monkeypatch):
    monkeypatch.setattr(core, "LOOKED_AT", 1)
    monkeypatch.setattr(core, "MOST_LOOKED_AT", 1)
    answer = search([project.pk], parse("redis by:nobody"), meaning=False)
    assert answer.hits == []
    assert answer.notes[0].startswith("Only the 1 that match best were looked at")


def test_the_worker_keeps_the_words_and_forgets_those_of_a_record_that_is_gone(agent, project):
    from graph.worker import Worker

    decision = create_decision(actor=agent, project=project, title="Zanzibar", decision="x")
    worker = Worker()
    while worker.work_once():
        pass
    kept = SearchText.objects.get(node_id=decision.node_id)
    assert "zanzibar" in kept.words
    keep_words([decision])
    assert SearchText.objects.get(node_id=decision.node_id).pk == kept.pk  # unchanged: not written
    forget_words([decision.node_id])
    assert not SearchText.objects.exists()


def test_odd_queries_find_nothing_or_something_but_never_break(texts, project):
    for asked in ('"', '""', "+-*<>()~@", "AND OR NOT NEAR", "a* ^b", "(", ")(", '"a" "b', "x\x00y", "ﷺ", "-a -b", "it's", "%", "_", "___", "NOT", "-redis", "café" * 300, "\ud800"):  # fmt: skip
        search([project.pk], parse(asked), meaning=False)


def test_the_words_that_were_asked_for_are_marked():
    assert [piece.text for piece in marked("Use getUserById in the Cafés", "cafes user") if piece.marked] == [
        "getUserById", "Cafés",
    ]  # fmt: skip
    assert [piece.text for piece in marked("我们使用缓存。", "缓存") if piece.marked] == ["缓存"]
    assert "".join(piece.text for piece in marked("a <b> \ud800 c", "b")) == "a <b> \ud800 c"
    long = "nothing here. " * 2000 + "The cache aside pattern. " + "more. " * 2000
    pieces = excerpt(long, "cache aside")
    assert [piece.text for piece in pieces if piece.marked] == ["cache", "aside"]
    assert sum(len(piece.text) for piece in pieces) < 360
    assert pieces[0].text.startswith("…")
    assert pieces[-1].text.endswith("…")


def test_an_excerpt_stands_where_letters_grow_in_lower_case_and_asks_no_page_of_words():
    pieces = excerpt("İ" * 50_000 + " redis " + "x " * 100, "redis")
    assert [piece.text for piece in pieces if piece.marked] == ["redis"]
    asked = " ".join(f"word{number}" for number in range(400))
    began = time.process_time()
    excerpt(f"{asked}\n" * 300, asked)
    assert time.process_time() - began < 0.5

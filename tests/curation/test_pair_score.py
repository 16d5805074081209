"""Whether two are of one subject is told by meaning and shared words, whatever they decide and however they are worded."""

from datetime import UTC, datetime

import pytest

from curation.models import Sort, SuggestedPair
from curation.pairs.judging import CONFLICT_SUBJECT, LATER_SUBJECT, score_of, subject_of
from curation.pairs.overlap import overlap_of, words_of
from decisions.actions import create_decision
from graph.worker import Worker
from recall.tokenise import search_text
from recall.words import text_of

pytestmark = [pytest.mark.database, pytest.mark.django_db]

QUEUE = {
    "title": "Run background jobs in Celery with RabbitMQ",
    "decision": (
        "Background jobs run in Celery workers that take their messages from a RabbitMQ cluster of three nodes. Each job is "
        "idempotent and acknowledged after it is done, so that a worker that dies loses nothing. Failed jobs are tried again "
        "five times with growing pauses, then kept in a dead letter queue that the team on call empties."
    ),
    "rationale": (
        "Invoices were rendered within the request and timed out for large customers. A table in PostgreSQL polled by a "
        "cron script was considered: it needs no further server and the jobs commit together with the order, but polling "
        "loads the database, locks rows for minutes and has no dead letters. Managed queues of the cloud would tie us to it."
    ),
}
AGAIN = {
    "title": "Celery and RabbitMQ for slow work",
    "decision": (
        "Slow work leaves the request: Celery workers fetch it from RabbitMQ, which runs as a cluster of three nodes. A job "
        "can safely be run twice and is acknowledged at its end; when it fails it is retried five times, later and later, "
        "and after that it rests in a dead letter queue for whoever is on call."
    ),
    "rationale": "Large customers saw time-outs while their invoices were rendered.",
}
OPPOSITE = {
    "title": "Run background jobs from a table in PostgreSQL",
    "decision": (
        "Background jobs are rows of a table in PostgreSQL, polled by a cron script: it needs no further server, and the "
        "jobs commit together with the order. Managed queues of the cloud would tie us to it."
    ),
    "rationale": (
        "Invoices were rendered within the request and timed out for large customers. Celery workers with a RabbitMQ "
        "cluster of three nodes were considered: each job is idempotent and acknowledged after it is done, and failed jobs "
        "are kept in a dead letter queue that the team on call empties."
    ),
}


ELSE = {
    "title": "Test the checkout page in three browsers",
    "decision": (
        "Every pull request that touches the checkout page is tested in Chromium, Firefox and WebKit by Playwright. The tests "
        "run in parallel on four machines and keep screenshots of what failed."
    ),
    "rationale": "A change of the payment form broke Safari for two days, and nobody on the team uses it.",
}


@pytest.fixture
def decide(agent, project):
    def made(text, **fields):
        return create_decision(actor=agent, project=project, **text, **fields)

    return made


def work():
    while Worker().work_once():
        pass


def words(record):
    return words_of(record.heading, "", search_text(text_of(record)))


def pair_of(*records):
    return tuple(sorted(record.node_id for record in records))


def test_a_decision_told_again_is_suggested_and_its_opposite_is_not(decide):
    first, again = decide(QUEUE), decide(AGAIN)
    decide(OPPOSITE)
    work()
    row = SuggestedPair.objects.get()
    assert ((row.first, row.second), row.sort) == (pair_of(first, again), Sort.DUPLICATE)


def test_the_later_of_two_that_decide_the_opposite_may_contradict_however_far_their_vectors_are(decide):
    first = decide(QUEUE, status="accepted", decided_at=datetime(2026, 1, 5, tzinfo=UTC))
    opposite = decide(OPPOSITE, status="accepted", decided_at=datetime(2026, 3, 5, tzinfo=UTC))
    work()
    row = SuggestedPair.objects.get()
    assert ((row.first, row.second), row.sort) == (pair_of(first, opposite), Sort.CONFLICT)
    assert [why["code"] for why in row.why] == ["later", "cosine", "words"]
    assert row.cosine < LATER_SUBJECT < row.score


def test_a_later_decision_on_something_else_does_not_contradict(decide):
    decide(QUEUE, status="accepted", decided_at=datetime(2026, 1, 5, tzinfo=UTC))
    decide(ELSE, status="accepted", decided_at=datetime(2026, 3, 5, tzinfo=UTC))
    work()
    assert not SuggestedPair.objects.exists()


def test_words_count_beyond_what_unrelated_texts_share(decide):
    first, again, opposite, other = (words(decide(text)) for text in (QUEUE, AGAIN, OPPOSITE, ELSE))
    assert overlap_of(first, again).beyond_chance == overlap_of(first, opposite).beyond_chance == 1
    assert overlap_of(first, other).beyond_chance < 0.3
    for one in (again, opposite, other):
        assert overlap_of(first, one) == overlap_of(one, first)


def test_records_of_one_template_in_another_script_are_not_of_one_subject(decide):
    template = {"decision": "日期：二〇一七年十月十日。状态：提议。背景在这里。决策在这里。后果在这里。"}
    first, other = (
        words(decide({"title": title, **template})) for title in ("添加端到端测试", "支持自定义模板路径")
    )
    overlap = overlap_of(first, other)
    assert (overlap.is_read, overlap.body, overlap.beyond_chance) == (False, 1, 1)
    assert subject_of(0.9, overlap) < CONFLICT_SUBJECT


@pytest.mark.parametrize("cosine", [None, -1.0, 0.0, 0.6, 1.0])
@pytest.mark.parametrize("texts", [("", ""), ("x", ""), ("a b c", "a b c"), ("中", "中文")])
def test_any_pair_has_a_score_below_that_of_equal_texts(cosine, texts):
    overlap = overlap_of(*(words_of(text, "", search_text("\n".join([text] * 4))) for text in texts))
    for known in (overlap, None):
        assert 0 <= score_of(cosine, known) < 1
        assert 0 <= subject_of(cosine, known) < 1

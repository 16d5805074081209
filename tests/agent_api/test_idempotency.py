"""A keyed write is done once, whoever repeats it and whenever."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decisions.models import Decision
from patterns.models import Pattern
from projects.models import AgentToken
from records.models import IdempotencyKey, Revision
from records.retention import purge
from tests.agent_api.conftest import ApiClient
from tests.conftest import make_token

pytestmark = pytest.mark.database

BODY = {"title": "T", "decision": "D"}


@pytest.mark.django_db
class TestOneAfterTheOther:
    def test_the_second_gets_the_first_answer_to_the_byte(self, api):
        first = api.post("/decisions", BODY, Idempotency_Key="k1")
        again = api.post("/decisions/", {"decision": "D", "title": "T"}, Idempotency_Key="k1")
        assert (first.status_code, again.status_code) == (201, 201)
        assert again.content == first.content
        assert (again["Location"], again["ETag"]) == (first["Location"], first["ETag"])
        assert "Idempotency-Replayed" not in first
        assert again["Idempotency-Replayed"] == "true"
        assert (Decision.objects.count(), Revision.objects.count()) == (1, 1)

    def test_another_payload_address_or_method_is_422(self, api, decision):
        path = f"/decisions/{decision.node_id}"
        api.post(f"{path}/archive", {"reason": "a"}, Idempotency_Key="k")
        for answer in (
            api.post(f"{path}/archive", {"reason": "b"}, Idempotency_Key="k"),
            api.post(f"{path}/restore", {"reason": "a"}, Idempotency_Key="k"),
            api.patch(path, {"reason": "a", "version": 1}, Idempotency_Key="k"),
        ):
            assert answer.status_code == 422
            assert answer.data["type"].endswith("idempotency-key-reused")

    def test_a_failed_write_does_not_burn_its_key(self, api, decision):
        assert api.post("/decisions", {"title": "T"}, Idempotency_Key="k").status_code == 422
        stale = api.patch(f"/decisions/{decision.node_id}", {"title": "x", "version": 7}, Idempotency_Key="k")
        assert stale.status_code == 412
        assert not IdempotencyKey.objects.exists()
        assert api.post("/decisions", BODY, Idempotency_Key="k").status_code == 201

    def test_a_write_that_breaks_leaves_neither_row_nor_key(self, api, monkeypatch):
        def broken(*args, **kwargs):
            raise RuntimeError

        monkeypatch.setattr("decisions.api.DecisionViewSet.made", broken)
        assert api.post("/decisions", BODY, Idempotency_Key="k").status_code == 500
        assert (Decision.objects.count(), IdempotencyKey.objects.count()) == (0, 0)

    def test_a_vote_is_counted_once(self, api, pattern):
        for _ in range(3):
            answer = api.post(f"/patterns/{pattern.node_id}/worked", {"note": "n"}, Idempotency_Key="vote")
            assert answer.data["usage_count"] == 1
        assert Pattern.objects.get().usage_count == 1

    def test_a_key_is_its_tokens_own(self, api, reviewer):
        for client in (api, reviewer):
            assert client.post("/decisions", BODY, Idempotency_Key="k").status_code == 201
        assert Decision.objects.count() == 2

    @pytest.mark.parametrize("key", ["", "a" * 256, "ü", "a\x07"])
    def test_a_key_of_odd_form_is_400(self, api, key):
        assert api.post("/decisions", BODY, Idempotency_Key=key).status_code == 400
        assert not Decision.objects.exists()

    def test_without_a_key_nothing_is_kept(self, api):
        api.post("/decisions", BODY)
        assert not IdempotencyKey.objects.exists()

    def test_plain_sql_in_between_is_taken_in_within_the_keyed_write(self, api, decision):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE architecture_decisions SET rationale = 'x' WHERE id = %s", [decision.pk])
        path = f"/decisions/{decision.node_id}"
        answer = api.patch(path, {"title": "New"}, Idempotency_Key="k", If_Match="*")
        assert (answer.data["rationale"], answer.data["title"], answer.data["version"]) == ("x", "New", 3)

    def test_old_keys_are_forgotten(self, api):
        api.post("/decisions", BODY, Idempotency_Key="old")
        IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(days=8))
        api.post("/decisions", BODY, Idempotency_Key="new")
        assert purge(seconds=5) == ({"idempotency keys": 1}, True)
        assert IdempotencyKey.objects.count() == 1


class SharedDatabase:
    """A database that several threads really share: on SQLite a file in place of the tests' one in memory."""

    def __init__(self, folder) -> None:
        self.file = str(folder / "shared.sqlite3")

    def begin(self) -> None:
        """From here on the threads see what was written so far, and what they write themselves."""
        if connection.vendor == "sqlite":
            connection.ensure_connection()
            with sqlite3.connect(self.file) as file:
                connection.connection.backup(file)
                # As a desk's file is: threads that all at once made it so would find it locked, however long they wait.
                file.execute("PRAGMA journal_mode=WAL")

    def at_once(self, *acts):
        """The answers of functions that all begin together, each in its own thread and connection."""
        barrier, main = threading.Barrier(len(acts)), connections["default"]

        def run(act):
            if main.vendor == "sqlite":
                own = main.copy()
                own.settings_dict["NAME"] = self.file
                connections["default"] = own
            try:
                barrier.wait(10)
                return act()
            finally:
                connections.close_all()

        with ThreadPoolExecutor(len(acts)) as pool:
            return [future.result(60) for future in [pool.submit(run, act) for act in acts]]


@pytest.fixture
def shared(transactional_db, tmp_path) -> SharedDatabase:
    return SharedDatabase(tmp_path)


def test_twins_are_applied_once_and_all_get_the_same_answer(shared, project):
    text = make_token(project)[1]
    shared.begin()
    send = lambda: ApiClient(text).post("/decisions", BODY, Idempotency_Key="twin")  # noqa: E731
    for _round in range(3):
        answers = shared.at_once(*[send] * 6)
        assert [answer.status_code for answer in answers] == [201] * 6
        assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotency-Replayed" not in answer for answer in answers) == 0
    (counts,) = shared.at_once(
        lambda: (Decision.objects.count(), Revision.objects.count(), IdempotencyKey.objects.count())
    )
    assert counts == (1, 1, 1)


def test_twins_of_a_write_that_fails_all_fail_and_leave_nothing(shared, project):
    text = make_token(project)[1]
    shared.begin()
    answers = shared.at_once(
        *[lambda: ApiClient(text).post("/decisions", {"title": "T"}, Idempotency_Key="bad")] * 5
    )
    assert {answer.status_code for answer in answers} == {422}
    assert shared.at_once(IdempotencyKey.objects.count) == [0]


def test_different_keys_do_not_hinder_each_other(shared, project):
    text = make_token(project)[1]
    shared.begin()

    def send(number):
        return lambda: ApiClient(text).post("/decisions", BODY, Idempotency_Key=f"k{number}")

    answers = shared.at_once(*map(send, range(6)))
    assert [answer.status_code for answer in answers] == [201] * 6
    assert len({answer.data["node_id"] for answer in answers}) == 6


def test_votes_at_once_are_all_counted_and_a_repeated_one_once(shared, project, pattern):
    text = make_token(project)[1]
    shared.begin()
    path = f"/patterns/{pattern.node_id}/worked"

    def send(key):
        return lambda: ApiClient(text).post(path, {}, Idempotency_Key=key)

    answers = shared.at_once(*map(send, ["a", "b", "c", "a", "b", "c"]))
    assert {answer.status_code for answer in answers} == {200}
    assert shared.at_once(lambda: Pattern.objects.get().usage_count) == [3]


def test_a_twin_that_waits_in_vain_is_told_so(shared, project):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer: whoever waits for it waits for all, not for a key")
    token, text = make_token(project)
    begun, answered = threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            import hashlib

            digest = hashlib.sha256(b"held").hexdigest()
            IdempotencyKey.objects.create(
                token=AgentToken.objects.get(pk=token.pk), key_digest=digest, request_digest="x"
            )
            begun.set()
            answered.wait(60)
            transaction.set_rollback(True)

    def send():
        begun.wait(10)
        try:
            return ApiClient(text).post("/decisions", BODY, Idempotency_Key="held")
        finally:
            answered.set()

    answer = shared.at_once(hold, send)[1]
    assert answer.status_code == 409
    assert answer.data["type"].endswith("idempotent-request-running")
    assert answer["Retry-After"]
    assert not Decision.objects.exists()


GOOD, OTHER, BAD = BODY, {"title": "Another", "decision": "D"}, {"title": "T"}
SENT = st.tuples(st.sampled_from("ab"), st.sampled_from([GOOD, OTHER, BAD]))


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(batches=st.lists(st.lists(SENT, min_size=1, max_size=4), min_size=1, max_size=4))
def test_in_any_order_and_at_once_a_key_is_applied_once(shared, project, batches):
    """Batches one after the other, the writes of a batch all together."""
    text = make_token(project)[1]
    shared.begin()
    first: dict[str, tuple[dict[str, str], bytes]] = {}
    (before,) = shared.at_once(Decision.objects.count)

    def send(key, body):
        return lambda: ApiClient(text).post("/decisions", body, Idempotency_Key=key)

    for batch in batches:
        answers = shared.at_once(*[send(key, body) for key, body in batch])
        for (key, body), answer in zip(batch, answers, strict=True):
            if answer.status_code == 201:
                assert first.setdefault(key, (body, answer.content)) == (body, answer.content)
            else:
                assert answer.status_code == 422, answer.content
        for (key, body), answer in zip(batch, answers, strict=True):
            if answer.status_code == 422:
                assert body is BAD or first[key][0] != body
    (after,) = shared.at_once(Decision.objects.count)
    assert after - before == len(first)

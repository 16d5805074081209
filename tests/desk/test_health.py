"""The health page: what is wrong, whose it is, and the acts on it; projects are walls here too."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from decisions.actions import create_decision
from desk.health import counts, projection
from desk.health.counts import COUNT, count_now, count_orphans, last_count
from graph import worker_thread
from projects.models import Membership, User
from recall.models import Embedding, Similarity
from records import leases, marks
from records.actor import Actor
from records.errors import InvalidInput
from records.leases import WORKER, Lease
from records.models import Link, ProjectionMark, Revision
from records.projection import project_again, retry_dead
from tests.conftest import make_token, person

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def operator():
    return User.objects.create_superuser("olga", password="correct horse battery")


@pytest.fixture
def see(client):
    def look(user, status=200):
        client.force_login(user, backend=BACKEND)
        response = client.get("/health/")
        assert response.status_code == status
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))

    return look


@pytest.fixture
def decision(agent, project):
    return create_decision(actor=agent, project=project, title="Use Redis", decision="Cache totals.")


@pytest.fixture
def elsewhere(other_project):
    token, _text = make_token(other_project)
    return create_decision(
        actor=Actor.agent(token), project=other_project, title="Keep the vault shut", decision="Always."
    )


def give_up(record, error="ValueError: no such thing"):
    ProjectionMark.objects.filter(node_id=record.node_id).update(dead=True, error=error, attempts=8)


def a_worker(name="one", problem="", alive=True):
    until = timezone.now() + timedelta(seconds=60 if alive else -60)
    state = {
        "started_at": timezone.now().isoformat(),
        "done": 5,
        "failed": 1,
        "in_hand": 2,
        "problem": problem,
    }
    Lease.objects.create(
        name=f"{WORKER}box:{name}", holder=f"box:{name}", until=until, beat_at=timezone.now(), state=state
    )


def all_done():
    ProjectionMark.objects.update(next_try_at=None, embedded_version=1, projected_version=1)


# --- What is seen ------------------------------------------------------------------------------------------------
def test_a_desk_at_rest_says_what_was_looked_at_and_claims_no_comparison(
    see, operator, decision, monkeypatch
):
    monkeypatch.setattr("desk.health.database.check_database", list)  # of the machine that tests
    monkeypatch.setattr("desk.health.database.check_disk", list)
    a_worker()
    all_done()
    text = see(operator)
    assert "were looked at just now: nothing needs you" in text
    assert "Nobody has counted yet: whether the graph differs is not known." in text
    assert "in sync" not in text
    assert "box:one" in text


def test_what_is_wrong_comes_first_with_what_to_do(see, operator, decision):
    long_ago = timezone.now() - timedelta(hours=2)
    ProjectionMark.objects.update(wanted_at=long_ago, next_try_at=long_ago)
    text = see(operator)
    assert "Worker: no worker is at work" in text
    assert "manage.py run_worker" in text
    assert f"behind by 1 since {long_ago:%Y-%m-%d %H:%M} UTC" in text
    a_worker(problem="the database does not answer")
    a_worker("two", alive=False)
    text = see(operator)
    assert "no worker is at work" not in text
    assert "box:one: the database does not answer" in text
    assert "silent" in text


def test_given_up_records_are_named_with_their_error(see, operator, decision):
    give_up(decision)
    text = see(operator)
    assert "1 record was given up" in text
    assert "ValueError: no such thing" in text
    assert "Use Redis" in text


def test_an_admin_sees_what_concerns_his_own_projects_alone(see, admin_user, decision, elsewhere):
    a_worker()
    give_up(decision)
    give_up(elsewhere, "a secret of the bank")
    text = see(admin_user)
    assert "Use Redis" in text
    for hidden in ("vault", "secret of the bank", "box:one", "sql_mode", "GiB free"):
        assert hidden not in text
    assert "1 record was given up" in text


@pytest.mark.parametrize("who", ["viewer_user", "curator_user"])
def test_members_who_manage_nothing_are_refused_and_see_no_link(see, request, client, who, project):
    user = request.getfixturevalue(who)
    see(user, status=403)
    assert "/health/" not in client.get("/p/shop/").content.decode()


def test_admins_find_it_in_the_rail(client, admin_user, project):
    client.force_login(admin_user, backend=BACKEND)
    assert client.get("/p/shop/").content.decode().count('href="/health/"') >= 2


def test_queries_do_not_grow_with_what_is_given_up(client, operator, agent, project):
    def queries(count):
        for n in range(count):
            give_up(create_decision(actor=agent, project=project, title=f"Use {n}", decision="x"))
        with CaptureQueriesContext(connection) as captured:
            assert client.get("/health/").status_code == 200
        return len(captured)

    client.force_login(operator, backend=BACKEND)
    client.get("/health/")
    few = queries(2)
    assert queries(12) == few
    assert few < 40


# --- Retry and again ---------------------------------------------------------------------------------------------
def test_retry_asks_for_it_again_and_is_in_the_history(client, admin_user, decision):
    give_up(decision)
    client.force_login(admin_user, backend=BACKEND)
    response = client.post("/health/retry/", {"node_id": decision.node_id, "reason": "The disk was full."})
    assert (response.status_code, response.url) == (303, "/health/")
    mark = ProjectionMark.objects.get(node_id=decision.node_id)
    assert (mark.dead, mark.error, mark.attempts, mark.next_try_at is not None) == (False, None, 0, True)
    act = Revision.objects.filter(node_id=decision.node_id).order_by("-pk")[0]
    assert (act.verb, act.version, act.actor_name, act.reason) == (
        "retry_projection", None, "ada", "The disk was full.",
    )  # fmt: skip
    assert act.detail == {"error": "ValueError: no such thing"}
    before = Revision.objects.count()
    client.post("/health/retry/", {"node_id": decision.node_id})
    assert Revision.objects.count() == before  # given up no more


def test_retry_all_takes_ones_own_projects_alone(
    client, admin_user, operator, agent, project, decision, elsewhere
):
    other = create_decision(actor=agent, project=project, title="Another", decision="x")
    for record in (decision, other, elsewhere):
        give_up(record)
    client.force_login(admin_user, backend=BACKEND)
    client.post("/health/retry/")
    assert list(ProjectionMark.objects.filter(dead=True).values_list("node_id", flat=True)) == [
        elsewhere.node_id
    ]
    client.post("/health/retry/", {"node_id": elsewhere.node_id})
    assert ProjectionMark.objects.filter(dead=True).count() == 1
    client.force_login(operator, backend=BACKEND)
    client.post("/health/retry/")
    assert not ProjectionMark.objects.filter(dead=True).exists()


def test_many_are_retried_in_portions(monkeypatch, operator, agent, project):
    monkeypatch.setattr("records.projection.CHUNK", 2)
    for n in range(5):
        give_up(create_decision(actor=agent, project=project, title=f"Use {n}", decision="x"))
    assert retry_dead(actor=person(operator)) == 5
    assert Revision.objects.filter(verb="retry_projection").count() == 5


def test_project_again_is_noted_and_stays_within_the_walls(client, admin_user, decision, elsewhere):
    all_done()
    client.force_login(admin_user, backend=BACKEND)
    assert client.post("/health/project-again/", {"node_id": f" {decision.node_id} "}).status_code == 303
    assert ProjectionMark.objects.get(node_id=decision.node_id).wanted_version == 2
    assert Revision.objects.filter(node_id=decision.node_id, verb="project_again").count() == 1
    for node_id in (elsewhere.node_id, "dec_999999", "nonsense", ""):
        response = client.post("/health/project-again/", {"node_id": node_id})
        assert response.status_code == 422
        assert "errorlist" in response.content.decode()
    assert ProjectionMark.objects.get(node_id=elsewhere.node_id).wanted_version == 1


def test_a_bad_reason_is_refused_in_words(client, operator, decision):
    give_up(decision)
    client.force_login(operator, backend=BACKEND)
    assert client.post("/health/retry/", {"reason": "x" * 2001}).status_code == 422
    assert ProjectionMark.objects.get().dead
    with pytest.raises(InvalidInput):
        project_again(decision.node_id, actor=person(operator), reason="a\x00b")


# --- Counting ----------------------------------------------------------------------------------------------------
def counted(monkeypatch, drift=None):
    if drift is not None:
        monkeypatch.setattr(counts, "count_drift", lambda: drift)
    assert leases.take(COUNT, "me", 60)
    return count_now("me", "olga")


def test_what_was_counted_is_kept_with_its_time(see, operator, decision, monkeypatch):
    a_worker()
    all_done()
    state = counted(monkeypatch)
    assert state["rows"]["architecture_decisions"] == 1
    assert last_count()["asked_by"] == "olga"
    assert not counts.is_counting()
    text = see(operator)
    assert "asked for by olga" in text
    assert "none: every reference leads to a record" in text
    assert "none: all are of the configured model" in text


def test_drift_is_shown_by_kind_and_an_admin_gets_the_part_of_his_projects(
    see, operator, admin_user, project, other_project, decision, elsewhere, monkeypatch
):
    all_done()
    missing = {str(project.pk): 2, str(other_project.pk): 5, "": 1}
    kind = {
        "name": "decision", "records": 4711, "nodes": 4703, "without_vector": 0, "missing": missing, "outdated": {},
        "orphans": {}, "named": {"missing": [elsewhere.node_id]},
    }  # fmt: skip
    counted(
        monkeypatch, {"kinds": [kind], "waiting": 0, "differs": True, "relations": {"SIMILAR_TO": [4, 2]}}
    )
    text = see(operator)
    assert "8 records differed though nothing waited for them." in text
    assert "Decisions" in text
    assert elsewhere.node_id in text
    text = see(admin_user)
    assert "2 records differed" in text
    for hidden in (elsewhere.node_id, "SIMILAR_TO", "4,711", "4,703"):
        assert hidden not in text


def test_no_difference_is_said_of_the_moment_of_the_count_and_what_waited(
    see, operator, decision, monkeypatch
):
    kind = {
        "name": "decision", "records": 1, "nodes": 0, "without_vector": 0, "missing": {}, "outdated": {},
        "orphans": {}, "named": {},
    }  # fmt: skip
    counted(monkeypatch, {"kinds": [kind], "waiting": 1, "differs": False, "relations": {}})
    text = see(operator)
    assert "Every record that did not wait was compared: none differed. 1 waited then." in text
    counted(monkeypatch, {"problem": "GraphAway: no answer"})
    text = see(operator)
    assert "The graph could not be compared: GraphAway: no answer" in text
    assert "none differed" not in text


def test_orphans_are_rows_that_name_nobody(decision):
    all_done()
    Embedding.objects.create(
        node_id="dec_777", kind="decision", part=0, model="old-model", content_hash="x", vector=b"1234"
    )
    Similarity.objects.create(source=decision.node_id, target="dec_777", score=0.9)
    marks.entomb([decision.node_id])
    found = count_orphans()
    assert (found["embeddings"], found["similarities"], found["links"]) == (1, 1, 0)
    all_done()  # the tombstone was worked off, and left something behind
    assert count_orphans()["similarities"] == 2
    assert counts.count_old_vectors() == {"old-model": 1}
    assert not Link.objects.exists()


def test_one_counts_at_a_time_and_a_count_that_died_blocks_nobody(client, operator, monkeypatch):
    started = []
    monkeypatch.setattr(counts.threading, "Thread", lambda **given: started.append(given) or _Idle())
    client.force_login(operator, backend=BACKEND)
    for _ in range(2):
        assert client.post("/health/count/").status_code == 303
    assert len(started) == 1
    assert "counting…" in client.get("/health/").content.decode()
    Lease.objects.filter(name=COUNT).update(until=timezone.now() - timedelta(seconds=1))
    assert "counting…" not in client.get("/health/").content.decode()
    client.post("/health/count/")
    assert len(started) == 2


class _Idle:
    def start(self):
        pass


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="a thread does not see a database in memory")
def test_the_count_goes_on_in_a_thread_of_its_own(decision):
    assert counts.start_count("olga")
    for thread in counts.threading.enumerate():
        if thread.name == "memory-desk-count":
            thread.join(30)
    assert last_count()["rows"]["architecture_decisions"] == 1


def test_a_count_that_fails_keeps_the_last_one(monkeypatch):
    counted(monkeypatch)
    kept = last_count()
    monkeypatch.setattr(counts, "count_orphans", lambda: 1 / 0)
    assert leases.take(COUNT, "you", 60)
    monkeypatch.setattr(counts.connection, "close", lambda: None)
    counts._count_and_close("you", "olga")
    assert last_count() == kept
    assert not counts.is_counting()


# --- The queue ---------------------------------------------------------------------------------------------------
def test_the_queue_is_counted_by_its_steps(settings, agent, project):
    for n in range(3):
        create_decision(actor=agent, project=project, title=f"Use {n}", decision="x")
    first, second, _third = ProjectionMark.objects.order_by("pk")
    settings.GRAPH_URL = "bolt://127.0.0.1:1"
    ProjectionMark.objects.filter(pk=first.pk).update(embedded_version=1)
    ProjectionMark.objects.filter(pk=second.pk).update(dead=True)
    queue = projection.queue()
    assert (queue.embedding.waiting, queue.graph.waiting) == (1, 2)
    assert queue.graph.since == first.wanted_at
    settings.GRAPH_URL = ""
    assert projection.queue().graph is None


def test_the_lease_that_elects_the_servers_worker_is_no_worker():
    a_worker()
    assert leases.take(worker_thread.LEASE, "box:one", 60)
    assert [worker.holder for worker in projection.workers()] == ["box:one"]


def test_heartbeats_of_the_dead_are_forgotten_after_a_day():
    a_worker()
    a_worker("two", alive=False)
    assert leases.forget_dead_workers(timezone.now() - timedelta(days=1)) == 0
    assert leases.forget_dead_workers(timezone.now()) == 1
    assert [worker.holder for worker in projection.workers()] == ["box:one"]


def test_a_staff_member_who_is_in_no_project_is_no_operator(see, project):
    staff = User.objects.create_user("stan", password="correct horse battery", is_staff=True)
    see(staff, status=403)
    Membership.objects.create(user=staff, project=project, role="admin")
    see(staff)

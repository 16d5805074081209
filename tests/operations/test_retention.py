"""What is past its time goes, in small batches; the rest stays, and runs stay unless a policy says otherwise."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from curation.models import BulkJob
from graph.sweeper import PURGE, Sweeper
from projects.models import Project, ProjectPolicy
from records import retention
from records.leases import Lease
from records.links import link
from records.models import ProjectionMark, Read, Relation, Revision
from records.retention import policies, purge
from records.sweep import sweep
from runs.actions import record_run, remember
from runs.models import CacheEntry, Memory, PayloadValue, Run
from tests.conftest import make_token

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def ago(days):
    return timezone.now() - timedelta(days=days)


def read(node_id, days):
    return Read.objects.create(node_id=node_id, agent_name="order-bot", door="api", read_at=ago(days))


def run_of(agent, project, days, **fields):
    return record_run(
        actor=agent, project=project, agent_name="order-bot", started_at=ago(days), tags=["night"],
        trigger_payload={"host": "db-2", "who": "ada@example.org"}, **fields,
    )  # fmt: skip


def test_by_default_runs_are_kept_for_ever(settings, agent, project):
    run_of(agent, project, days=9000)
    assert policies() == {
        "idempotency keys": 7,
        "reads": 400,
        "runs": 0,
        "cache": 7,
        "alerts": 30,
        "bulk jobs": 30,
    }
    assert purge(seconds=5) == ({}, True)
    assert Run.objects.count() == 1


def test_reports_of_acts_on_many_go(project, admin_user):
    for days in (29, 31, 300):
        BulkJob.objects.create(
            project=project, user=admin_user, act=f"{days:032x}", verb="approve", started_at=ago(days)
        )
    assert purge(seconds=5) == ({"bulk jobs": 2}, True)
    assert BulkJob.objects.get().act == f"{29:032x}"


def test_reads_and_cache_entries_past_their_time_go(project, settings):
    settings.KEEP_READS_DAYS, settings.KEEP_CACHE_DAYS = 30, 2
    for days in (10, 29, 31, 300):
        read("dec_1", days)
    for key, days in (("fresh", -1), ("gone", 1), ("old", 3)):
        CacheEntry.objects.create(project=project, key=key, expires_at=ago(days))
    assert purge(seconds=5) == ({"reads": 2, "cache": 1}, True)
    assert Read.objects.count() == 2
    assert set(CacheEntry.objects.values_list("key", flat=True)) == {"fresh", "gone"}
    settings.KEEP_READS_DAYS = 0
    read("dec_1", 4000)
    assert purge(seconds=5) == ({}, True)


def test_in_batches_by_key_and_the_clock_ends_it(monkeypatch, settings):
    monkeypatch.setattr(retention, "BATCH", 2)
    for _ in range(5):
        read("dec_1", 900)
    with CaptureQueriesContext(connection) as queries:
        assert purge(seconds=5) == ({"reads": 5}, True)
    deletes = [query["sql"] for query in queries if query["sql"].startswith("DELETE")]
    assert len(deletes) == 3
    assert all("IN (" in sql and "read_at" not in sql for sql in deletes)
    read("dec_1", 900)
    assert purge(seconds=-1) == ({}, False)
    assert purge(seconds=5, may_go_on=lambda: False) == ({}, False)


def test_a_purged_run_leaves_its_history_without_what_it_said(settings, agent, project):
    settings.KEEP_RUNS_DAYS = 90
    old, kept = run_of(agent, project, days=91), run_of(agent, project, days=89)
    memory = remember(actor=agent, project=project, agent_name="order-bot", summary="It went well.", run=old)
    assert purge(seconds=5) == ({"runs": 1}, True)
    assert list(Run.objects.all()) == [kept]
    assert set(PayloadValue.objects.values_list("run", flat=True)) == {kept.pk}
    memory = Memory.objects.get(pk=memory.pk)
    assert (memory.source_run_fk_id, memory.version) == (None, 2)
    history = Revision.objects.filter(node_id=old.node_id).order_by("pk")
    assert [(act.verb, act.after) for act in history] == [("create", None), ("purge", None)]
    assert history[1].actor_name == "retention"
    mark = ProjectionMark.objects.get(node_id=old.node_id)
    assert (mark.gone, mark.next_try_at is not None) == (True, True)
    # The sweep finds nothing that the desk does not know of, and a second purge nothing at all.
    Revision.objects.count()
    assert sweep() == 0
    assert purge(seconds=5) == ({}, True)
    assert Revision.objects.filter(node_id=old.node_id).count() == 2


def test_linked_runs_and_runs_of_every_project_and_of_none(settings, agent, project, other_project):
    settings.KEEP_RUNS_DAYS = 90
    linked, other = run_of(agent, project, days=200), run_of(agent, project, days=10)
    link(linked, Relation.RELATES_TO, other, actor=agent)
    token, _text = make_token(other_project)
    elsewhere = run_of(type(agent).agent(token), other_project, days=200)
    placeless = run_of(type(agent).command("import"), None, days=200)
    assert purge(seconds=5) == ({"runs": 2}, True)
    assert set(Run.objects.all()) == {linked, other}
    assert (
        Revision.objects.filter(verb="purge", node_id__in=[elsewhere.node_id, placeless.node_id]).count() == 2
    )
    assert Project.objects.count() == 2


def test_the_worker_purges_hourly_and_goes_on_where_it_had_to_stop(monkeypatch, settings):
    for _ in range(3):
        read("dec_1", 900)
    sweeper = Sweeper("one")
    monkeypatch.setattr("graph.sweeper.PURGE_SECONDS", -1)
    assert sweeper.purge_if_due()
    assert Lease.objects.get(name=PURGE).state["all"] is False
    monkeypatch.setattr("graph.sweeper.PURGE_SECONDS", 5)
    assert sweeper.purge_if_due()
    assert Lease.objects.get(name=PURGE).state["gone"] == {"reads": 3}
    assert not sweeper.purge_if_due()
    another = Sweeper("two")
    assert not another.purge_if_due()  # within the hour
    Lease.objects.filter(name=PURGE).update(
        state={"purged_at": ago(1).isoformat(), "all": True},
        holder="one",
        until=timezone.now() + timedelta(60),
    )
    assert not Sweeper("three").purge_if_due()  # another is at it


def test_a_projects_own_policy_keeps_reads_for_less_long(settings, project):
    settings.KEEP_READS_DAYS = 0
    ProjectPolicy.objects.create(project=project, keep_reads_days=10)
    for days in (9, 11, 300):
        Read.objects.create(
            node_id="dec_1", project_id=project.pk, agent_name="a", door="api", read_at=ago(days)
        )
    read("dec_2", 300)
    assert purge(seconds=5) == ({"reads of projects": 2}, True)
    assert Read.objects.count() == 2

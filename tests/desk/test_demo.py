"""The demo: what the pages promise to be found in it, and that it is history like any other."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import TestCase
from django.utils import timezone

from curation.inbox.records import doubted, stale_days, untouched
from decisions.models import Decision, Outcome
from desk.demo.seed import seed_demo
from desk.queries import open_contradictions
from patterns.models import Evidence, Pattern
from pitfalls.models import Encounter, Pitfall
from projects.manager import Manager
from projects.models import AgentToken, Project, User
from records import attention
from records.images import seen_digest_of
from records.kinds import all_kinds
from records.models import Attention, Link, ProjectionMark, ReviewState, Revision
from records.sweep import sweep
from runs.models import Memory, PayloadValue, Run
from work_sessions.models import WorkSession

pytestmark = pytest.mark.mysql


def records() -> list:
    return [record for kind in all_kinds() for record in kind.model.objects.all()]


class TestDemo(TestCase):
    demo: Project

    @classmethod
    def setUpTestData(cls):
        cls.demo = seed_demo(by=Manager.command("test"))

    def test_it_has_every_kind_by_three_agents_and_two_people(self):
        made = {
            model: model.objects.filter(project=self.demo).count()
            for model in (Decision, Outcome, Pattern, Pitfall, WorkSession, Run, Memory)
        }
        assert made == {
            Decision: 22,
            Outcome: 9,
            Pattern: 13,
            Pitfall: 12,
            WorkSession: 6,
            Run: 10,
            Memory: 9,
        }
        assert {record.source_name for record in records()} == {
            "deck-bot",
            "till-bot",
            "harbour-ops",
            "marta",
            "jonas",
        }

    def test_eight_wait_for_a_person_one_of_them_quarantined(self):
        asking = (ReviewState.UNREVIEWED, ReviewState.QUARANTINED)
        waiting = [record for record in records() if record.review_state in asking]
        assert sorted(record.prefix for record in waiting) == ["dec"] * 4 + ["pat"] + ["pit"] * 2 + ["run"]
        assert all(record.source_kind == "agent" for record in waiting)
        assert [record.review_state for record in waiting].count(ReviewState.QUARANTINED) == 1
        rows = Attention.objects.filter(project_id=self.demo.pk)
        assert rows.filter(standing="waiting").count() == len(waiting)

    def test_some_are_stale_and_one_is_doubted(self):
        assert 3 <= untouched(self.demo, stale_days(self.demo)).count() <= 20
        assert doubted(self.demo).count() >= 1
        assert attention.faults(self.demo.pk) == {"standing": 0, "missing": 0, "gone": 0}

    def test_one_unreviewed_decision_contradicts_a_reviewed_one(self):
        (found,) = open_contradictions(self.demo)
        assert {found.one.review_state, found.other.review_state} == {"unreviewed", "approved"}

    def test_a_chain_of_decisions_superseded_each_other(self):
        chain = Link.objects.filter(relation="SUPERSEDES").values_list("source", "target")
        targets, sources = {target for _s, target in chain}, {source for source, _t in chain}
        assert targets & sources, "one in the middle"
        for node_id in targets:
            assert Decision.objects.get(pk=int(node_id.removeprefix("dec_"))).status == "superseded"

    def test_failed_and_escalated_runs_are_there_with_their_tool_calls(self):
        failed = Run.objects.filter(status="failed")
        assert failed.count() == 4
        assert failed.filter(escalated_to_human=True).count() == 3
        for run in Run.objects.all():
            assert all({"name", "started_at", "duration_ms", "input"} <= set(call) for call in run.tool_calls)
            assert all(("output" in call) or ("error" in call) for call in run.tool_calls)
            assert run.ended_at > run.started_at
        assert PayloadValue.objects.filter(path="host", value="db-2").exists()

    def test_nothing_lies_in_the_future_or_before_the_last_sixty_days(self):
        now = timezone.now()
        times = list(Revision.objects.values_list("created_at", flat=True))
        times += [record.created_at for record in records()]
        times += [record.reviewed_at for record in records() if record.reviewed_at]
        times += [decision.decided_at for decision in Decision.objects.all()]
        times += [
            *Evidence.objects.values_list("created_at", flat=True),
            *Encounter.objects.values_list("created_at", flat=True),
        ]
        times += list(Link.objects.values_list("created_at", flat=True))
        assert now - timedelta(days=61) < min(times)
        assert max(times) < now

    def test_history_is_in_the_order_of_its_time_and_names_who_acted(self):
        times = list(Revision.objects.order_by("id").values_list("created_at", flat=True))
        assert times == sorted(times)
        assert not Revision.objects.exclude(channel__in=["web", "api"]).exists()
        for record in records():
            assert list(
                Revision.objects.filter(node_id=record.node_id, version=1).values_list("verb", flat=True)
            ) == ["create"]

    def test_the_sweep_finds_nothing_that_the_verbs_did_not_write(self):
        assert sweep() == 0
        seen = dict(ProjectionMark.objects.values_list("node_id", "seen_digest"))
        assert all(seen[record.node_id] == seen_digest_of(record) for record in records())

    def test_everything_waits_for_the_worker(self):
        assert ProjectionMark.objects.filter(next_try_at__isnull=False, dead=False).count() == len(records())

    def test_nobody_can_sign_in_as_the_demos_people_or_use_its_agents_tokens(self):
        assert not any(user.has_usable_password() for user in User.objects.all())
        assert AgentToken.objects.filter(projects=self.demo).count() == 3

    def test_it_is_made_once(self):
        before = Revision.objects.count()
        with pytest.raises(CommandError, match="here already"):
            call_command("seed_demo")
        assert Revision.objects.count() == before

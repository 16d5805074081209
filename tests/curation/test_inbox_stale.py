"""The stale queue: what later facts speak against, then what nobody touched for long."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from decisions.actions import create_decision, create_decisions, record_outcome
from decisions.models import Decision
from projects.models import ProjectPolicy
from records.models import Attention, Revision
from runs.actions import record_run
from tests.curation.inbox_pages import age, counts, keys, url, whys

pytestmark = pytest.mark.django_db


class TestTheStaleQueue:
    def listed(self, client):
        return keys(client.get(url(queue="stale")))

    def test_untouched_for_longer_than_the_policy_says(self, as_curator, curator, project):
        old = create_decision(actor=curator, project=project, title="Old", decision="x")
        older = create_decision(actor=curator, project=project, title="Older", decision="y")
        create_decision(actor=curator, project=project, title="New", decision="z")
        age(old, 181)
        age(older, 300)
        assert self.listed(as_curator) == [older.node_id, old.node_id]
        ProjectPolicy.objects.update_or_create(project=project, defaults={"stale_after_days": 200})
        assert self.listed(as_curator) == [older.node_id]
        ProjectPolicy.objects.update(stale_after_days=None)
        assert self.listed(as_curator) == []

    def test_what_happened_once_does_not_age(self, as_curator, curator, project):
        run = record_run(actor=curator, project=project, agent_name="x")
        age(run, 1000)
        assert self.listed(as_curator) == []

    def test_what_later_facts_speak_against_comes_first_and_confirming_answers_it(
        self, as_curator, agent, curator, project
    ):
        doubted = create_decision(actor=curator, project=project, title="Doubted", decision="x")
        old = create_decision(actor=curator, project=project, title="Old", decision="y")
        age(old, 400)
        bad = record_outcome(actor=agent, decision=doubted, type="outage")
        page = as_curator.get(url(queue="stale"))
        assert keys(page) == [doubted.node_id, old.node_id]
        assert whys(page)[doubted.node_id] == [f"a bad outcome since: {bad.node_id}"]
        assert whys(page)[old.node_id] == ["untouched for more than 180 days"]
        assert counts(page)["Stale"] == "2"
        for record in (doubted, old):
            as_curator.post(f"{url('act')}?queue=stale", {"node_id": record.node_id, "verb": "confirm"})
        assert self.listed(as_curator) == []
        assert Decision.objects.get(pk=old.pk).reviewed_by == curator.user
        assert Revision.objects.filter(verb="confirm").count() == 2

    def test_paging_walks_both_parts_once(self, as_curator, curator, agent, project):
        made = create_decisions(
            actor=curator,
            project=project,
            rows=[{"title": f"T {n}", "decision": f"x {n}"} for n in range(120)],
        )
        for record in made[:50]:
            record_outcome(actor=agent, decision=record, type="outage")
        Attention.objects.filter(kind="decision").update(touched_at=timezone.now() - timedelta(days=300))
        seen, address = [], url(queue="stale")
        while address:
            page = as_curator.get(address)
            seen += keys(page)
            address = page.context["next_url"]
        assert len(seen) == len(set(seen)) == 120
        assert set(seen[:50]) == {record.node_id for record in made[:50]}

    @pytest.mark.parametrize("doubted", [0, 7, 50, 60])
    def test_paging_back_from_the_end_meets_both_parts_too(
        self, as_curator, curator, agent, project, doubted
    ):
        rows = [{"title": f"T {n}", "decision": f"x {n}"} for n in range(120)]
        made = create_decisions(actor=curator, project=project, rows=rows)
        of_doubted = [record.node_id for record in made[:doubted]]
        Attention.objects.filter(node_id__in=of_doubted).update(risk=50)
        Attention.objects.filter(kind="decision").update(touched_at=timezone.now() - timedelta(days=300))
        forth, address = [], url(queue="stale")
        while address:
            page = as_curator.get(address)
            forth, address = forth + keys(page), page.context["next_url"]
        back, address = keys(page), page.context["previous_url"]
        while address:
            page = as_curator.get(address)
            back, address = keys(page) + back, page.context["previous_url"]
        assert back == forth

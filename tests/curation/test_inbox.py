"""The queue to review: what it holds and why, filters and orders, what lies beside the open record."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from decisions.actions import contradict, create_decision, create_decisions
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from recall.models import Similarity
from records import verbs
from runs.actions import record_run, remember
from tests.curation.inbox_pages import FLAGGED, age, counts, keys, url, whys
from work_sessions.actions import start_session

pytestmark = pytest.mark.django_db


class TestTheQueueToReview:
    def test_it_holds_what_is_unreviewed_or_quarantined_of_every_kind(
        self, as_curator, agent, curator, project
    ):
        made = [
            create_decision(actor=agent, project=project, title="D", decision="x"),
            create_pattern(actor=agent, project=project, category="c", name="P"),
            create_pitfall(actor=agent, project=project, category="c", title="T", description=FLAGGED),
            start_session(actor=agent, project=project, session_id="s-1"),
            record_run(actor=agent, project=project, agent_name="order-bot"),
            remember(actor=agent, project=project, agent_name="order-bot", summary="S"),
        ]
        own = create_decision(actor=curator, project=project, title="Mine", decision="x")
        page = as_curator.get(url())
        assert set(keys(page)) == {record.node_id for record in made}
        assert own.node_id not in keys(page)
        assert counts(page)["To review"] == "6"
        assert whys(page)[made[2].node_id][:1] == ["orders to agents"]
        for record in made:
            assert as_curator.get(url(selected=record.node_id)).context["record"].node_id == record.node_id

    def test_newest_or_riskiest_first(self, as_curator, agent, project):
        calm = create_decision(actor=agent, project=project, title="Calm", decision="x")
        risky = create_pitfall(actor=agent, project=project, category="c", title="T", severity="critical")
        last = create_decision(actor=agent, project=project, title="Last", decision="y")
        assert keys(as_curator.get(url())) == [last.node_id, risky.node_id, calm.node_id]
        assert keys(as_curator.get(url(sort="risk")))[0] == risky.node_id
        wrong = as_curator.get(url(sort="loudest"))
        assert wrong.status_code == 422
        assert "newest, risk" in wrong.content.decode()

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ({"kind": "pitfall"}, ["pit"]), ({"by": "other-bot"}, ["dec"]), ({"by": "order-bot"}, ["pit", "pat"]),
            ({"findings": "any"}, ["pit"]), ({"findings": "orders"}, ["pit"]), ({"findings": "secret"}, []),
            ({"q": "valkey"}, ["dec"]), ({"q": "kind:pattern"}, ["pat"]), ({"q": "severity:high"}, ["pit"]),
            ({"q": "valkey by:order-bot"}, []), ({"q": "review:quarantined"}, ["pit"]),
        ],
    )  # fmt: skip
    def test_filters_narrow_it(self, as_curator, agent, project, other_agent, query, found):
        create_decision(actor=other_agent, project=project, title="Valkey", decision="x")
        create_pattern(actor=agent, project=project, category="c", name="P")
        create_pitfall(
            actor=agent, project=project, category="c", title="T", description=FLAGGED, severity="high"
        )
        page = as_curator.get(url(**query))
        assert page.status_code == 200
        assert sorted(key[:3] for key in keys(page)) == sorted(found)
        assert page.context["count"] == len(found)

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ({"q": "colour:red"}, "There is no filter"), ({"kind": "novel"}, "Select a valid choice"),
            ({"nonsense": "1"}, "There is no such filter"), ({"cursor": "x"}, "page link"),
            ({"q": "confidence:>0.5 status:accepted"}, "No kind of memory"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_applied_is_said(self, as_curator, decision, query, said):
        page = as_curator.get(url(**query))
        assert page.status_code == 422
        assert said in page.content.decode()
        assert keys(page) == []

    def test_paging_walks_all_of_them_once(self, as_curator, agent, project):
        create_decisions(
            actor=agent, project=project, rows=[{"title": f"T {n}", "decision": f"x {n}"} for n in range(120)]
        )
        for sort in ("newest", "risk"):
            seen, address = [], url(sort=sort)
            while address:
                page = as_curator.get(address)
                seen += keys(page)
                address = page.context["next_url"]
            assert len(seen) == len(set(seen)) == 120

    def test_what_lies_near_is_shown_even_where_it_was_rejected(
        self, as_curator, decision, agent, curator, project
    ):
        old = create_decision(
            actor=agent, project=project, title="Use Redis too", decision="Cache everything."
        )
        verbs.review([old], "rejected", actor=curator, reason="no")
        Similarity.objects.create(
            project_id=project.pk, source=decision.node_id, target=old.node_id, score=0.91
        )
        page = as_curator.get(url(selected=decision.node_id))
        (near,) = page.context["neighbours"]
        assert (near.node_id, near.put_away, round(near.score, 2)) == (old.node_id, "rejected", 0.91)
        text = as_curator.get(near.diff_url).content.decode()
        assert "<ins>" in text
        assert "<del>" in text
        assert "everything" in text

    def test_contradictions_stand_above_the_verbs(self, as_curator, decision, agent, project):
        other = create_decision(actor=agent, project=project, title="No cache", decision="Never.")
        contradict(actor=agent, decision=decision, other=other)
        page = as_curator.get(url(selected=decision.node_id))
        assert f"contradicts {other.node_id}" in whys(page)[decision.node_id]
        text = page.content.decode()
        assert text.index("notice-warn") < text.index("inbox-verbs")


def test_query_counts_do_not_grow_with_rows(as_curator, agent, curator, project):
    def fill(count):
        made = create_decisions(
            actor=agent,
            project=project,
            rows=[{"title": f"T {count} {n}", "decision": f"x {n}"} for n in range(count)],
        )
        for number in range(count):
            create_pitfall(
                actor=agent, project=project, category="c", title=f"P {count} {number}", description=FLAGGED
            )
        settled = create_decisions(
            actor=curator,
            project=project,
            rows=[{"title": f"S {count} {n}", "decision": f"s {n}"} for n in range(count)],
        )
        for record in settled:
            age(record, 300)
        return made[0]

    def asked(address):
        as_curator.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert as_curator.get(address).status_code == 200
        return len(queries)

    first = fill(1)
    opened = {"selected": first.node_id}  # what is open depends on what is first
    addresses = [
        url(**opened),
        url(sort="risk", **opened),
        url(by="order-bot", **opened),
        url(queue="stale", **opened),
        url("pane", **opened),
    ]
    few = {address: asked(address) for address in addresses}
    fill(50)
    # A page of one kind only asks one query less.
    assert all(asked(address) <= few[address] for address in addresses)
    assert max(few.values()) <= 20

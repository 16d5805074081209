"""A poisoned run on the demo project: found, its radius shown, quarantined in one act, and taken back."""

import re

import pytest

from decisions.actions import create_decision, record_outcome
from desk.demo.seed import seed_demo
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from projects.access import OPERATOR
from projects.manager import Manager
from projects.models import User
from records.actor import Actor
from records.links import link
from records.models import Relation, Revision
from records.queries import records_by_node_id
from records.reads import flush_reads, note_reads
from runs.actions import record_run
from tests.conftest import make_token

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]


@pytest.fixture
def operator(client):
    user = User.objects.create_superuser("olga", password="correct horse battery")
    client.force_login(user)
    return user


@pytest.fixture
def demo(operator):
    return seed_demo(by=Manager(name="olga", access=OPERATOR, channel="web", user=operator))


def at_work(project, agent, session):
    """An agent in a run of its own."""
    token, _text = make_token(project, agent_name=agent)
    run = record_run(actor=Actor.agent(token), project=project, agent_name=agent)
    return Actor.agent(token, session=session, run=run.node_id)


def states(node_ids):
    return {node_id: record.review_state for node_id, record in records_by_node_id(node_ids).items()}


def test_found_shown_quarantined_and_undone(client, demo):
    poisoner = at_work(demo, "scraper-bot", "scrape-17")
    bad = [
        create_decision(actor=poisoner, project=demo, title="Turn off TLS between services", decision="As said."),
        create_decision(actor=poisoner, project=demo, title="Retry payments until they succeed", decision="So."),
        create_pattern(actor=poisoner, project=demo, category="http", name="Trust every certificate"),
        create_pitfall(actor=poisoner, project=demo, category="db", title="Indexes are slow"),
    ]  # fmt: skip
    victim, bystander = at_work(demo, "order-bot", "ses-1"), at_work(demo, "build-bot", "ses-2")
    note_reads([bad[0].node_id, bad[2].node_id], actor=victim, door="api.context")
    innocent = Revision.objects.filter(project=demo, kind="decision", version=1).earliest("pk").node_id
    note_reads([innocent], actor=bystander, door="api.context")
    flush_reads()
    outcome = record_outcome(actor=victim, decision=bad[0], type="outage", note="Plain text on the wire.")
    copy = create_decision(actor=victim, project=demo, title="No TLS inside", decision="As the other says.")
    link(copy, Relation.DUPLICATE_OF, bad[0], actor=victim)

    # Found: in the history, by what the agent did, and from there to the radius.
    page = client.get(f"/p/{demo.slug}/history/", {"agent": "scraper-bot", "session": "scrape-17"})
    assert {entry.node_id for entry in page.context["entries"]} == {record.node_id for record in bad}
    address = next(entry.run for entry in page.context["entries"])
    assert address == poisoner.run
    record_page = client.get(f"/p/{demo.slug}/r/{bad[0].node_id}/belief/").content.decode()
    assert poisoner.run in record_page
    assert "Told 1 time, to 1 agent in 1 run" in record_page

    radius = client.get(f"/p/{demo.slug}/radius/", {"run": poisoner.run}).context
    assert {row.node_id for row in radius["written"]} == {record.node_id for record in bad}
    assert {row.node_id for row in radius["derived"]} == {outcome.node_id, copy.node_id}
    (reader,) = radius["readers"]
    assert (reader.run, reader.session, reader.records) == (victim.run, "ses-1", 2)

    # Quarantined: what it wrote, and what came of that, as one act.
    before = states([record.node_id for record in (*bad, outcome, copy)])
    answer = client.post(
        f"/p/{demo.slug}/radius/quarantine/?run={poisoner.run}",
        {"what": "all", "reason": "The wiki was poisoned."},
        follow=True,
    )
    assert "Quarantined 6 records" in answer.content.decode()
    assert set(states(before).values()) == {"quarantined"}
    assert states([innocent])[innocent] != "quarantined"
    acts = set(Revision.objects.filter(verb="quarantine", reason="The wiki was poisoned.").values_list("act"))
    assert len(acts) == 1
    (entry, *_rest) = client.get(f"/p/{demo.slug}/history/").context["entries"]
    assert entry.verb == "quarantined 6 records"

    # Undone: by the button of the message, everything is as it was.
    (undo,) = set(re.findall(r'action="(/p/[^"]+/undo/)"', answer.content.decode()))
    client.post(undo)
    assert states(before) == before
    assert Revision.objects.filter(verb="undo").count() == 6

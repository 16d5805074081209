"""A verdict on two records: the relation, the pair and both histories, once and for ever."""

import pytest
from django.db import connection
from django.db.models.signals import post_init

from curation.models import Sort, SuggestedPair, Verdict
from curation.pairs.actions import settle
from curation.pairs.keeping import keep_pairs
from decisions.actions import create_decision, edit_decision
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from projects.models import Project
from records.actor import Actor
from records.errors import Conflict, InvalidInput, NotAllowed, Refused
from records.links import link
from records.models import Link, Relation, Revision
from records.undo import undo
from records.verbs import archive
from tests.conftest import person
from tests.records.samples import write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def two(agent, project):
    return [
        create_decision(actor=agent, project=project, title=title, decision="Serve totals from Redis.")
        for title in ("Cache totals", "Cache the totals")
    ]


def verdicts(*records):
    first, second = sorted(record.node_id for record in records)
    rows = SuggestedPair.objects.filter(first=first, second=second)
    return {row.sort: (row.verdict, row.is_open) for row in rows}


def links():
    return {(made.source, made.relation, made.target) for made in Link.objects.all()}


def test_unrelated_closes_both_queues_and_takes_back_what_was_asserted(two, agent, curator):
    one, other = two
    link(one, Relation.CONTRADICTS, other, actor=agent)
    keep_pairs([one.node_id])
    settle(one, other, Verdict.UNRELATED, actor=curator, reason="Two services.")
    assert verdicts(one, other) == dict.fromkeys(Sort.values, (Verdict.UNRELATED, False))
    assert links() == set()
    keep_pairs([one.node_id, other.node_id])
    assert verdicts(one, other) == dict.fromkeys(Sort.values, (Verdict.UNRELATED, False))
    acts = set()
    for record in two:
        told = Revision.objects.filter(node_id=record.node_id, verb="settle").get()
        assert (told.reason, told.detail["verdict"], told.version) == ("Two services.", "unrelated", None)
        acts.add(told.act)
    assert len(acts) == 1
    assert Revision.objects.filter(act=acts.pop()).count() == 4  # unlinked and settled, in both histories


def test_contradicts_is_a_link_that_stays(two, curator):
    one, other = two
    settle(one, other, Verdict.CONTRADICTS, actor=curator)
    first, second = sorted(record.node_id for record in two)
    assert links() == {(first, Relation.CONTRADICTS, second)}
    assert verdicts(one, other)[Sort.CONFLICT] == (Verdict.CONTRADICTS, False)


def test_supersedes_is_the_link_and_the_status_of_the_other(two, curator):
    one, other = two
    settle(other, one, Verdict.SUPERSEDES, actor=curator, reason="Rewritten.")
    assert links() == {(other.node_id, Relation.SUPERSEDES, one.node_id)}
    one.refresh_from_db()
    assert (one.status, one.version) == ("superseded", 2)
    with pytest.raises(Refused):
        settle(one, other, Verdict.SUPERSEDES, actor=curator)
    assert verdicts(one, other)[Sort.CONFLICT] == (Verdict.SUPERSEDES, False)


def test_other_kinds_are_superseded_by_the_link_alone(agent, project, curator):
    one, other = (
        create_pattern(actor=agent, project=project, name=name, category="cache") for name in ("A", "B")
    )
    settle(one, other, Verdict.SUPERSEDES, actor=curator)
    assert links() == {(one.node_id, Relation.SUPERSEDES, other.node_id)}


def test_two_kinds_may_contradict_and_are_no_duplicates(two, agent, project, curator):
    pitfall = create_pitfall(actor=agent, project=project, title="Redis loses totals", category="cache")
    settle(two[0], pitfall, Verdict.CONTRADICTS, actor=curator)
    assert verdicts(two[0], pitfall) == {Sort.CONFLICT: (Verdict.CONTRADICTS, False)}


def test_what_was_changed_since_the_page_was_drawn_is_a_conflict(two, agent, curator):
    one, other = two
    edit_decision(actor=agent, decision=other, changes={"decision": "Serve them from memory."})
    shown = {record.node_id: record.version for record in two}
    with pytest.raises(Conflict):
        settle(one, other, Verdict.UNRELATED, actor=curator, expected_versions=shown)
    write_as_sql(one, title="By SQL")  # taken in first, as a new version
    with pytest.raises(Conflict):
        settle(one, other, Verdict.UNRELATED, actor=curator, expected_versions={one.node_id: 1})
    assert verdicts(one, other) == {}
    assert not Revision.objects.filter(verb="settle").exists()


def test_it_is_refused_where_there_is_nothing_to_decide(two, curator, viewer, stranger, other_project, agent):
    one, other = two
    elsewhere = create_decision(
        actor=Actor.command("test"), project=Project.objects.get(slug="bank"), title="T", decision="D"
    )
    for raised, arguments in (
        (NotAllowed, {"actor": viewer}),
        (NotAllowed, {"actor": stranger}),
        (NotAllowed, {"actor": agent}),
        (InvalidInput, {"verdict": "alike"}),
        (Refused, {"other": one}),
        (Refused, {"other": elsewhere}),
    ):
        said = {"one": one, "other": other, "verdict": Verdict.UNRELATED, "actor": curator, **arguments}
        with pytest.raises(raised):
            settle(said["one"], said["other"], said["verdict"], actor=said["actor"])
    archive([other], actor=curator)
    with pytest.raises(Refused):
        settle(one, other, Verdict.UNRELATED, actor=curator)
    assert verdicts(one, other) == {}


def test_saying_it_again_changes_nothing(two, curator):
    for _time in range(2):
        settle(*two, Verdict.UNRELATED, actor=curator)
    assert Revision.objects.filter(verb="settle").count() == 2


def test_nothing_is_half_written(two, curator, monkeypatch):
    def fails(*arguments, **options):
        raise RuntimeError

    monkeypatch.setattr("curation.pairs.actions.note_event", fails)
    with pytest.raises(RuntimeError):
        settle(*two, Verdict.CONTRADICTS, actor=curator)
    assert links() == set()
    assert verdicts(*two) == {}
    assert not connection.needs_rollback


def act_of(verb="settle"):
    return Revision.objects.filter(verb=verb).latest("pk").act


def test_undo_gives_everything_back_and_undo_of_that_says_it_again(two, agent, curator):
    one, other = two
    link(one, Relation.CONTRADICTS, other, actor=agent)
    keep_pairs([one.node_id])
    before = verdicts(one, other)
    settle(other, one, Verdict.SUPERSEDES, actor=curator)
    first = act_of()
    undo(first, actor=curator)
    one.refresh_from_db()
    assert one.status == "accepted"
    assert verdicts(one, other) == before == {Sort.CONFLICT: (None, True)}
    assert {relation for _source, relation, _target in links()} == {Relation.CONTRADICTS}
    undo(act_of("undo"), actor=curator)
    one.refresh_from_db()
    assert one.status == "superseded"
    assert verdicts(one, other) == dict.fromkeys(Sort.values, (Verdict.SUPERSEDES, False))


def test_the_undo_of_unrelated_suggests_again(two, agent, curator):
    one, other = two
    link(one, Relation.DUPLICATE_OF, other, actor=agent)
    keep_pairs([one.node_id])
    settle(one, other, Verdict.UNRELATED, actor=curator)
    undo(act_of(), actor=curator)
    assert verdicts(one, other) == {Sort.DUPLICATE: (None, True)}
    assert len(links()) == 1


def test_a_verdict_that_another_one_followed_is_not_taken_back(two, curator):
    settle(*two, Verdict.UNRELATED, actor=curator)
    first = act_of()
    settle(*two, Verdict.CONTRADICTS, actor=curator)
    outcome = undo(first, actor=curator)
    assert len(outcome.refused) == 1
    assert verdicts(*two)[Sort.CONFLICT] == (Verdict.CONTRADICTS, False)
    undo(act_of(), actor=curator)
    assert verdicts(*two) == dict.fromkeys(Sort.values, (Verdict.UNRELATED, False))


def test_a_verdict_is_not_given_again_over_a_later_one(two, curator):
    settle(*two, Verdict.UNRELATED, actor=curator)
    undo(act_of(), actor=curator)
    undone = act_of("undo")
    settle(*two, Verdict.CONTRADICTS, actor=curator)
    assert len(undo(undone, actor=curator).refused) == 1
    assert verdicts(*two)[Sort.CONFLICT] == (Verdict.CONTRADICTS, False)


def test_a_verdict_that_is_given_back_is_of_who_gave_it_then(two, curator, admin_user):
    settle(*two, Verdict.UNRELATED, actor=curator)
    before = set(SuggestedPair.objects.values_list("sort", "settled_by", "settled_at"))
    settle(*two, Verdict.CONTRADICTS, actor=person(admin_user))
    assert {row.settled_by for row in SuggestedPair.objects.all()} == {admin_user}
    undo(act_of(), actor=person(admin_user))
    assert set(SuggestedPair.objects.values_list("sort", "settled_by", "settled_at")) == before


def test_a_pair_that_the_worker_suggests_at_the_same_moment_takes_the_verdict(two, curator, request):
    first, second = sorted(record.node_id for record in two)

    def meanwhile(instance, **_signal):
        if instance.pk is None and instance.score == 0.0:  # the verdict's own row, not inserted yet
            twin = {"project": instance.project, "kind": instance.kind, "sort": instance.sort, "score": 0.9}
            SuggestedPair.objects.bulk_create([SuggestedPair(first=first, second=second, **twin)])

    post_init.connect(meanwhile, sender=SuggestedPair)
    request.addfinalizer(lambda: post_init.disconnect(meanwhile, sender=SuggestedPair))
    settle(*two, Verdict.UNRELATED, actor=curator)
    assert verdicts(*two) == dict.fromkeys(Sort.values, (Verdict.UNRELATED, False))


def test_who_may_not_review_undoes_no_verdict(two, curator, viewer):
    settle(*two, Verdict.UNRELATED, actor=curator)
    outcome = undo(act_of(), actor=viewer)
    assert outcome.refused
    assert verdicts(*two)[Sort.CONFLICT] == (Verdict.UNRELATED, False)

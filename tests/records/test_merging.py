"""Merge: the survivor keeps what all had, the others lead to it, and the undo gives exactly that back."""

import pytest

from decisions.actions import create_decision, edit_decision, record_outcome
from decisions.models import Decision, Outcome
from patterns.actions import adjust_confidence, create_pattern, record_evidence
from patterns.models import Evidence
from pitfalls.actions import create_pitfall, meet_again
from pitfalls.models import Encounter
from records.errors import Conflict, InvalidInput, NotAllowed, Refused
from records.images import image_of
from records.links import link, links_of, unlink
from records.merging import merge
from records.models import Attention, Link, ProjectionMark, Revision
from records.queries import survivor_of
from records.sweep import sweep
from records.undo import undo
from records.verbs import archive, review
from runs.actions import record_run
from tests.records.samples import page_of, write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def again(record):
    return type(record).objects.get(pk=record.pk)


def last_act() -> str:
    return Revision.objects.order_by("-id").first().act


def everything() -> dict:
    """All that a merge may move, by what names it, without keys of rows that are made anew and version numbers."""
    counters = (
        "usage_count",
        "worked_count",
        "failed_count",
        "confidence_score",
        "encountered_count",
        "sort_at",
    )
    found: dict = {}
    for model in (Decision, Outcome, type_of("pattern"), type_of("pitfall")):
        for record in model.objects.all():
            found[record.node_id] = image_of(record) | {
                name: getattr(record, name) for name in counters if hasattr(record, name)
            }
    found["links"] = sorted(
        (row.source, row.relation, row.target, row.note, row.source_name, row.created_at)
        for row in Link.objects.all()
    )
    found["evidence"] = sorted(Evidence.objects.values_list("pk", "pattern_id", "moves", "taken_back_at"))
    found["encounters"] = sorted(Encounter.objects.values_list("pk", "pitfall_id", "moves", "taken_back_at"))
    found["reads"] = sorted(Attention.objects.values_list("node_id", "read_count", "standing"))
    return found


def type_of(kind: str):
    from records.kinds import kind_named

    return kind_named(kind).model


@pytest.fixture
def three(agent, project):
    """Three decisions of one meaning, with what hangs on them."""
    made = [
        create_decision(
            actor=agent, project=project, title=title, decision=f"{title}.", tags=[f"t{n}", "cache"],
            rationale="It is fast." if n == 1 else None,
        )
        for n, title in enumerate(["Use Redis", "We use Redis", "Redis it is"])
    ]  # fmt: skip
    record_outcome(actor=agent, decision=made[1], type="outage", note="It was full.")
    return made


@pytest.fixture
def patterns(agent, project):
    made = [
        create_pattern(actor=agent, project=project, category="retry", name=name, description=name)
        for name in ("Back off", "Back off slowly")
    ]
    for worked in (True, True, False):
        record_evidence(actor=agent, pattern=made[1], worked=worked)
    record_evidence(actor=agent, pattern=made[0], worked=True)
    return made


def test_words_are_chosen_field_by_field(three, curator):
    one, two, three_ = three
    outcome = merge(
        one, [two, three_], actor=curator, reason="one fact",
        choices={"title": three_.node_id, "rationale": two.node_id},
    )  # fmt: skip
    now = again(one)
    assert (now.title, now.decision, now.rationale) == ("Redis it is", "Use Redis.", "It is fast.")
    assert now.tags == ["t0", "cache", "t1", "t2"]
    assert {again(other).merged_into for other in (two, three_)} == {one.node_id}
    assert outcome.record == now
    assert not again(two).is_active
    for record in three:
        row = Revision.objects.filter(node_id=record.node_id, verb="merge", version__isnull=False).get()
        assert (row.reason, row.version) == ("one fact", 2)
        assert ProjectionMark.objects.get(node_id=record.node_id).wanted_version > 1
    assert len({*Revision.objects.filter(verb="merge").values_list("act", flat=True)}) == 1


def test_the_trust_is_the_least(three, curator, project):
    own = create_decision(actor=curator, project=project, title="Redis", decision="By hand.")
    assert own.trust == 1.0
    merge(own, [three[0]], actor=curator)
    assert again(own).trust == three[0].trust == 0.5


def test_outcomes_go_along(three, curator):
    merge(three[0], three[1:], actor=curator)
    assert Outcome.objects.get().decision == three[0]


def test_links_move_once_and_never_to_itself(three, patterns, curator):
    one, two, three_ = three
    link(one, "RELATES_TO", patterns[0], actor=curator)
    link(two, "RELATES_TO", patterns[0], actor=curator)
    link(three_, "CONTRADICTS", patterns[1], actor=curator, reason="why")
    link(two, "DUPLICATE_OF", one, actor=curator)
    merge(one, [two, three_], actor=curator)
    left = {(row.source, row.relation, row.target) for row in links_of([record.node_id for record in three])}
    assert left == {
        (one.node_id, "RELATES_TO", patterns[0].node_id),
        (one.node_id, "CONTRADICTS", patterns[1].node_id),
    }


def test_no_link_closes_a_circle(three, curator, project):
    one, two, _ = three
    middle = create_decision(actor=curator, project=project, title="M", decision="M")
    link(one, "SUPERSEDES", middle, actor=curator)
    link(middle, "SUPERSEDES", two, actor=curator)
    before = everything()
    merge(one, [two], actor=curator)
    assert [(row.source, row.target) for row in Link.objects.filter(relation="SUPERSEDES")] == [
        (one.node_id, middle.node_id)
    ]
    undo(last_act(), actor=curator)
    assert everything() == before


def test_votes_are_summed_and_evidence_goes_along(patterns, curator):
    kept, other = patterns
    merge(kept, [other], actor=curator)
    now = again(kept)
    assert (now.worked_count, now.failed_count, now.usage_count) == (3, 1, 4)
    assert now.confidence_score == pytest.approx((0.5 * 4 + 3) / 8)
    assert Evidence.objects.filter(pattern=kept, cause__in=["worked", "failed"]).count() == 4


def test_encounters_are_summed(agent, project, curator):
    kept, other = (create_pitfall(actor=agent, project=project, category="db", title=t) for t in "AB")
    meet_again(actor=agent, pitfall=other)
    merge(kept, [other], actor=curator)
    assert (again(kept).encountered_count, Encounter.objects.get().pitfall_id) == (3, kept.pk)
    undo(last_act(), actor=curator)
    assert (again(kept).encountered_count, again(other).encountered_count) == (1, 2)
    assert Encounter.objects.get().pitfall_id == other.pk


def test_merge_then_undo_loses_nothing(three, patterns, curator):
    one, two, three_ = three
    link(one, "RELATES_TO", patterns[0], actor=curator, reason="mine")
    link(two, "RELATES_TO", patterns[0], actor=curator, reason="yours")
    link(three_, "CONTRADICTS", patterns[1], actor=curator)
    link(two, "DUPLICATE_OF", one, actor=curator)
    link(three_, "DUPLICATE_OF", two, actor=curator)
    Attention.objects.filter(node_id=two.node_id).update(read_count=7)
    before = everything()
    merge(one, [two, three_], actor=curator, choices={"title": two.node_id})
    merged = everything()
    assert Attention.objects.get(node_id=one.node_id).read_count == 7
    outcome = undo(last_act(), actor=curator)
    assert outcome.refused == []
    assert everything() == before
    undo(last_act(), actor=curator)  # and again
    assert without_moves(everything()) == without_moves(merged)
    undo(last_act(), actor=curator)
    assert everything() == before


def without_moves(found: dict) -> dict:
    return {**found, "evidence": [row[:2] for row in found["evidence"]], "encounters": []}


def test_votes_come_back_to_whom_they_were_given(patterns, curator, agent):
    kept, other = patterns
    before = everything()
    merge(kept, [other], actor=curator)
    act = last_act()
    record_evidence(actor=agent, pattern=other, worked=True)  # by the old id
    assert again(kept).worked_count == 4
    undo(act, actor=curator)
    now = again(kept)
    assert (now.worked_count, now.usage_count) == (2, 2)
    assert everything()[other.node_id] == before[other.node_id]


def test_a_vote_taken_back_meanwhile_stays_taken_back(patterns, curator):
    kept, other = patterns
    vote = Revision.objects.filter(node_id=other.node_id, verb="failed").get().act
    merge(kept, [other], actor=curator)
    act = last_act()
    undo(vote, actor=curator)
    assert again(kept).failed_count == 0
    undo(act, actor=curator)
    assert (again(other).worked_count, again(other).failed_count, again(other).usage_count) == (2, 0, 2)
    assert (again(kept).worked_count, again(kept).failed_count, again(kept).usage_count) == (1, 0, 1)


def test_a_confidence_set_meanwhile_stands(patterns, curator):
    kept, other = patterns
    merge(kept, [other], actor=curator)
    act = last_act()
    adjust_confidence(actor=curator, pattern=again(kept), confidence=0.9, reason="seen")
    undo(act, actor=curator)
    now = again(kept)
    assert (now.prior_confidence, now.worked_count, now.failed_count) == (0.9, 0, 0)
    assert (again(other).worked_count, again(other).failed_count) == (2, 1)


def test_words_changed_since_stay_and_are_said(three, curator):
    one, two, _ = three
    merge(one, [two], actor=curator, choices={"title": two.node_id})
    act = last_act()
    edit_decision(actor=curator, decision=one, changes={"title": "Mine"})
    outcome = undo(act, actor=curator)
    assert again(two).merged_into is None
    assert (again(one).title, again(one).tags) == ("Mine", one.tags)
    assert [node_id for node_id, _why in outcome.refused] == [one.node_id]


def test_a_link_taken_away_since_stays_away(three, patterns, curator):
    one, two, _ = three
    link(two, "RELATES_TO", patterns[0], actor=curator)
    merge(one, [two], actor=curator)
    act = last_act()
    unlink(Link.objects.get(relation="RELATES_TO"), one, patterns[0], actor=curator)
    undo(act, actor=curator)
    assert not Link.objects.filter(relation="RELATES_TO").exists()


def test_a_chain_leads_to_the_last_and_goes_back_step_by_step(three, patterns, curator):
    one, two, three_ = three
    before = everything()
    merge(two, [three_], actor=curator)
    first = last_act()
    between = everything()
    merge(one, [two], actor=curator)
    second = last_act()
    assert survivor_of(again(three_)) == one
    assert (again(three_).merged_into, again(two).merged_into) == (two.node_id, one.node_id)
    with pytest.raises(Refused, match=one.node_id):
        undo(first, actor=curator)
    undo(second, actor=curator)
    assert everything() == between
    undo(first, actor=curator)
    assert everything() == before


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_circle_of_merges_leads_to_one_of_them_and_ends(
    length, patterns, agent, project, curator, client, curator_user
):
    """Only plain SQL can write one."""
    outside, *_ = patterns
    circle = [create_pattern(actor=agent, project=project, category="c", name=f"C{n}") for n in range(length)]
    for one, other in zip(circle, [*circle[1:], circle[0]], strict=True):
        write_as_sql(one, merged_into=other.node_id)
    write_as_sql(outside, merged_into=circle[-1].node_id)
    sweep()
    ends = {survivor_of(again(record)).node_id for record in (outside, *circle)}
    assert len(ends) == 1
    assert record_evidence(actor=agent, pattern=again(outside), worked=True).node_id in ends
    client.force_login(curator_user)
    for record in (outside, *circle):
        answer = client.get(page_of(record), follow=True)
        assert (answer.status_code, len(answer.redirect_chain) <= 1) == (200, True)


def test_votes_of_a_chain_come_back_step_by_step(patterns, agent, project, curator):
    third = create_pattern(actor=agent, project=project, category="retry", name="Wait")
    before = everything()
    merge(patterns[0], [patterns[1]], actor=curator)
    first = last_act()
    merge(third, [patterns[0]], actor=curator)
    assert again(third).worked_count == 3
    undo(last_act(), actor=curator)
    undo(first, actor=curator)
    assert everything() == before


def test_old_ids_still_take_links_and_outcomes(three, patterns, curator, agent):
    one, two, _ = three
    merge(one, [two], actor=curator)
    old = again(two)
    made = link(old, "RELATES_TO", patterns[0], actor=agent)
    assert made.source == one.node_id
    assert record_outcome(actor=agent, decision=old, type="success").decision == one


def test_an_old_id_is_not_changed_any_more(three, curator):
    one, two, _ = three
    merge(one, [two], actor=curator)
    with pytest.raises(Refused, match=one.node_id):
        edit_decision(actor=curator, decision=two, changes={"title": "X"})
    ((node_id, _why),) = review([two], "approved", actor=curator, partial=True).refused
    assert node_id == two.node_id


def test_what_cannot_be_merged_is_refused_and_nothing_is_written(
    three, patterns, curator, agent, other_project
):
    one, two, three_ = three
    elsewhere = create_decision(
        actor=type(agent)(**{**agent.__dict__, "access": everywhere()}),
        project=other_project, title="T", decision="D",
    )  # fmt: skip
    runs = [record_run(actor=agent, project=one.project, agent_name="a") for _ in range(2)]
    archive([three_], actor=curator)
    before = Revision.objects.count()
    for survivor, others in [
        (one, []), (one, [one]), (one, [two, two]), (one, [patterns[0]]), (one, [elsewhere]),
        (runs[0], [runs[1]]), (one, [three_]), (again(three_), [one]),
    ]:  # fmt: skip
        with pytest.raises(Refused):
            merge(survivor, others, actor=curator)
    for choices in ({"review_state": two.node_id}, {"title": "dec_999"}, {"nothing": two.node_id}):
        with pytest.raises(InvalidInput):
            merge(one, [two], actor=curator, choices=choices)
    assert Revision.objects.count() == before


def everywhere():
    from projects.access import OPERATOR

    return OPERATOR


def test_merged_once_is_not_merged_twice(three, curator):
    one, two, three_ = three
    merge(one, [two], actor=curator)
    with pytest.raises(Refused, match="already"):
        merge(three_, [two], actor=curator)
    with pytest.raises(Refused, match="already"):
        merge(two, [three_], actor=curator)


def test_who_saved_meanwhile_is_not_overwritten(three, curator):
    one, two, _ = three
    edit_decision(actor=curator, decision=two, changes={"title": "Newer"})
    with pytest.raises(Conflict) as conflict:
        merge(one, [two], actor=curator, expected_versions={one.node_id: 1, two.node_id: 1})
    assert conflict.value.record.node_id == two.node_id
    assert again(two).merged_into is None


def test_only_who_reviews_may_merge_and_unmerge(three, curator, agent, viewer, stranger):
    one, two, _ = three
    for actor in (agent, viewer, stranger):
        with pytest.raises(NotAllowed):
            merge(one, [two], actor=actor)
    merge(one, [two], actor=curator)
    with pytest.raises(NotAllowed):
        undo(last_act(), actor=agent)
    assert again(two).merged_into == one.node_id


def test_undone_already_is_no_act(three, curator):
    merge(three[0], [three[1]], actor=curator)
    act = last_act()
    undo(act, actor=curator)
    rows = Revision.objects.count()
    assert undo(act, actor=curator).updated == []
    assert Revision.objects.count() == rows

"""Several people and agents at the same instant, each with a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection

from decisions.actions import create_decision, supersede
from decisions.models import Decision
from patterns.actions import create_pattern, record_evidence
from patterns.models import Evidence, Pattern
from pitfalls.actions import create_pitfall, meet_again
from pitfalls.models import Pitfall
from projects.models import Project
from records.actor import Actor
from records.errors import Conflict, VerbError
from records.links import link, unlink
from records.merging import merge
from records.models import Link, ProjectionMark, Revision
from records.sweep import sweep
from records.undo import undo
from records.verbs import review, update

pytestmark = [
    pytest.mark.database,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="threads of a test share one SQLite in memory"),
]
SOMEBODY = Actor.command("test")


@pytest.fixture
def shop() -> Project:
    return Project.objects.create(name="Shop", slug="shop")


def decisions(shop: Project, count: int) -> list[Decision]:
    return [create_decision(actor=SOMEBODY, project=shop, title=f"D{n}", decision="D") for n in range(count)]


def at_once(acts: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each act answered: its result, or the error that it raised."""
    start, answers = threading.Barrier(len(acts)), [None] * len(acts)

    def run(number: int) -> None:
        try:
            start.wait(20)
            answers[number] = acts[number]()
        except Exception as error:
            answers[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return answers


def refusals(answers: list[Any]) -> list[Any]:
    failed = [answer for answer in answers if isinstance(answer, Exception)]
    assert all(isinstance(answer, VerbError) for answer in failed), failed
    return failed


def test_opposite_successions_said_at_once_close_no_circle(shop):
    for _round in range(5):
        one, two = decisions(shop, 2)
        answers = at_once(
            [
                lambda one=one, two=two: supersede(actor=SOMEBODY, decision=one, by=two),
                lambda one=one, two=two: supersede(actor=SOMEBODY, decision=two, by=one),
            ]
        )
        assert len(refusals(answers)) == 1
        assert Link.objects.filter(source__in=[one.node_id, two.node_id]).count() == 1


def test_one_link_said_twice_at_once_is_kept_once_and_taken_back_once(shop):
    one, two = decisions(shop, 2)
    refusals(at_once([lambda: link(one, "RELATES_TO", two, actor=SOMEBODY)] * 4))
    made = Link.objects.get()
    assert Revision.objects.filter(verb="link").count() == 2
    refusals(at_once([lambda: unlink(made, one, two, actor=SOMEBODY)] * 4))
    assert Revision.objects.filter(verb="unlink").count() == 2


def test_of_two_reviews_of_one_version_one_is_told_of_the_other(shop):
    (one,) = decisions(shop, 1)
    answers = at_once([lambda: review([one], "approved", actor=SOMEBODY, expected_version=1)] * 2)
    assert [type(error) for error in refusals(answers)] == [Conflict]
    assert list(
        Revision.objects.filter(node_id=one.node_id).order_by("id").values_list("version", flat=True)
    ) == [1, 2]


def test_no_vote_of_a_storm_is_lost(shop):
    pattern = create_pattern(actor=SOMEBODY, project=shop, category="c", name="n")
    answers = at_once([lambda: record_evidence(actor=SOMEBODY, pattern=pattern, worked=True)] * 16)
    assert refusals(answers) == []
    pattern = Pattern.objects.get()
    assert (pattern.worked_count, pattern.usage_count) == (16, 16)
    assert Evidence.objects.filter(cause="worked").count() == 16
    assert Revision.objects.filter(verb="worked").count() == 16
    assert pattern.version == 1


def test_votes_and_encounters_of_a_storm_count_and_bump_no_version(shop):
    pattern = create_pattern(actor=SOMEBODY, project=shop, category="c", name="n")
    pitfall = create_pitfall(actor=SOMEBODY, project=shop, category="c", title="t")
    votes = [
        lambda w=worked: record_evidence(actor=SOMEBODY, pattern=pattern, worked=w)
        for worked in (True, False)
    ]
    answers = at_once([*votes * 5, *[lambda: meet_again(actor=SOMEBODY, pitfall=pitfall)] * 6])
    assert refusals(answers) == []
    pattern, pitfall = Pattern.objects.get(), Pitfall.objects.get()
    assert (pattern.worked_count, pattern.failed_count, pattern.usage_count, pattern.version) == (5, 5, 10, 1)
    assert (pitfall.encountered_count, pitfall.version) == (7, 1)
    assert pattern.confidence_score == pytest.approx(0.5)


def test_votes_beside_a_merge_and_its_undo_are_all_counted_somewhere(shop):
    one, two = (create_pattern(actor=SOMEBODY, project=shop, category="c", name=name) for name in "AB")
    votes = [
        lambda p=pattern: record_evidence(actor=SOMEBODY, pattern=p, worked=True) for pattern in (one, two)
    ]
    answers = at_once([lambda: merge(one, [two], actor=SOMEBODY), *votes * 7])
    assert refusals(answers) == []
    one.refresh_from_db()
    assert (one.worked_count, one.usage_count) == (14, 14)
    act = Revision.objects.filter(verb="merge").latest("id").act
    answers = at_once([lambda: undo(act, actor=SOMEBODY), *votes * 7])
    assert refusals(answers) == []
    one.refresh_from_db()
    two.refresh_from_db()
    assert two.merged_into is None
    assert one.worked_count + two.worked_count == 28
    for pattern in (one, two):
        assert Evidence.objects.filter(pattern=pattern, cause="worked").count() == pattern.worked_count


def test_a_vote_taken_back_by_many_at_once_is_taken_back_once(shop):
    pattern = create_pattern(actor=SOMEBODY, project=shop, category="c", name="n")
    for worked in (True, True):
        record_evidence(actor=SOMEBODY, pattern=pattern, worked=worked)
    act = Revision.objects.filter(verb="worked").latest("id").act
    answers = at_once([lambda: undo(act, actor=SOMEBODY)] * 8)
    assert refusals(answers) == []
    assert sorted(len(answer.updated) for answer in answers) == [0] * 7 + [1]
    pattern.refresh_from_db()
    assert (pattern.worked_count, pattern.usage_count, pattern.version) == (1, 1, 1)


def test_of_two_opposite_merges_at_once_one_is_refused(shop):
    for _round in range(3):
        one, two = decisions(shop, 2)
        answers = at_once(
            [
                lambda one=one, two=two: merge(one, [two], actor=SOMEBODY),
                lambda one=one, two=two: merge(two, [one], actor=SOMEBODY),
            ]
        )
        assert len(refusals(answers)) == 1
        assert Decision.objects.filter(pk__in=[one.pk, two.pk], merged_into=None).count() == 1


def test_a_sweep_beside_a_verb_writes_each_version_once(shop):
    (one,) = decisions(shop, 1)
    for number in range(4):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE architecture_decisions SET title = %s", [f"SQL {number}"])
        answers = at_once(
            [lambda n=number: update([one], {"decision": f"D {n}"}, actor=SOMEBODY), sweep, sweep]
        )
        refusals(answers)
    sweep()
    one.refresh_from_db()
    versions = list(
        Revision.objects.filter(node_id=one.node_id).order_by("id").values_list("version", flat=True)
    )
    assert versions == list(range(1, 10))
    assert (one.version, one.title, one.decision) == (9, "SQL 3", "D 3")
    assert ProjectionMark.objects.get(node_id=one.node_id).seen_changed_at == one.row_changed_at

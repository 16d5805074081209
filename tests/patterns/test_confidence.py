"""The confidence of a pattern against what is known of Beta distributions; each step with its cause; fading; retiring."""

from datetime import timedelta
from math import asin, comb, pi, sin, sqrt
from random import Random

import pytest
from django.urls import reverse
from django.utils import timezone

from patterns import actions
from patterns.confidence import beta_quantile, beta_share, interval_of, posterior_mean
from patterns.evidence import steps_of
from patterns.fading import fade, fade_unused
from patterns.models import Evidence, Pattern
from projects.models import ProjectPolicy
from records import followers, verbs
from records.actor import Actor
from records.erasing import erase
from records.errors import Conflict, InvalidInput, NotAllowed
from records.guard import writing
from records.merging import merge
from records.models import Revision
from records.sweep import sweep
from records.undo import undo

FADES = set(followers.chores())
SHARES = (0.025, 0.5, 0.975)


@pytest.mark.parametrize("p", SHARES)
def test_quantiles_where_they_have_a_formula(p):
    assert beta_quantile(1, 1, p) == pytest.approx(p, abs=1e-9)
    assert beta_quantile(3, 1, p) == pytest.approx(p ** (1 / 3), abs=1e-9)
    assert beta_quantile(1, 7.5, p) == pytest.approx(1 - (1 - p) ** (1 / 7.5), abs=1e-9)
    assert beta_quantile(0.5, 0.5, p) == pytest.approx(sin(pi * p / 2) ** 2, abs=1e-9)


def test_the_share_below_is_a_binomial_tail_where_the_votes_are_whole():
    rng = Random(1)
    for _ in range(200):
        a, b, x = rng.randint(1, 60), rng.randint(1, 60), rng.uniform(0.01, 0.99)
        n = a + b - 1
        tail = sum(comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(a, n + 1))
        assert beta_share(a, b, x) == pytest.approx(tail, abs=1e-9), (a, b, x)


def test_a_quantile_has_that_share_below_it():
    rng = Random(2)
    for _ in range(200):
        a, b, p = 10 ** rng.uniform(-1.3, 4), 10 ** rng.uniform(-1.3, 4), rng.choice(SHARES)
        x = beta_quantile(a, b, p)
        assert 0 <= x <= 1
        if 1e-6 < x < 1 - 1e-6:
            assert beta_share(a, b, x) == pytest.approx(p, abs=1e-4), (a, b, p)


def test_the_ends_are_points_and_the_middle_is_symmetrical():
    assert interval_of(0.0, 4) == (0.0, 0.0)
    assert interval_of(1.0, 4) == (1.0, 1.0)
    low, high = interval_of(0.5, 4)
    assert low + high == pytest.approx(1)
    assert low == pytest.approx(0.0943, abs=1e-4)
    assert asin(sqrt(interval_of(0.5, 1)[0])) * 2 / pi == pytest.approx(0.025, abs=1e-6)


def test_more_votes_of_the_same_kind_make_it_narrower_and_move_it_less():
    assert posterior_mean(0.5, 4, 1, 0) == 0.6
    assert posterior_mean(0.5, 4, 0, 4) == 0.25, "as many votes against it halve it"
    widths = [high - low for low, high in (interval_of(0.5, 4 + 2 * n) for n in (0, 5, 50))]
    assert widths == sorted(widths, reverse=True)


@pytest.fixture
def pattern(agent, project):
    return actions.create_pattern(actor=agent, project=project, category="cache", name="Cache-aside")


def age(pattern, days):
    with writing():
        then = timezone.now() - timedelta(days=days)
        Pattern.objects.filter(pk=pattern.pk).update(row_changed_at=then, updated_at=then)


def halving(project, days=30):
    ProjectPolicy.objects.update_or_create(project=project, defaults={"confidence_half_life_days": days})


@pytest.mark.database
@pytest.mark.django_db
def test_a_new_pattern_takes_the_weight_of_the_projects_policy(agent, project):
    ProjectPolicy.objects.create(project=project, prior_weight=10)
    made = actions.create_pattern(actor=agent, project=project, category="c", name="n", confidence=0.8)
    voted = actions.record_evidence(actor=agent, pattern=made, worked=False, note="broke")
    assert voted.prior_weight == 10
    assert voted.confidence_score == pytest.approx(8 / 11)
    assert [(step.before, step.after, step.evidence.votes_after) for step in steps_of(voted)] == [
        (0.8, pytest.approx(8 / 11), 11),
        (None, 0.8, 10),
    ]


@pytest.mark.database
@pytest.mark.django_db
def test_a_person_sets_mean_and_weight_with_a_reason(curator, agent, pattern):
    actions.record_evidence(actor=agent, pattern=pattern, worked=True)
    after = actions.adjust_confidence(
        actor=curator, pattern=pattern, confidence=0.9, weight=20, reason="used for years"
    )
    assert (after.confidence_score, after.prior_weight, after.votes) == (0.9, 20, (0, 0))
    for weight in (0, 0.05, 1001, float("nan"), float("inf"), "x", True):
        with pytest.raises(InvalidInput) as caught:
            actions.adjust_confidence(
                actor=curator, pattern=pattern, confidence=0.5, weight=weight, reason="x"
            )
        assert "weight" in caught.value.errors
    kept = actions.adjust_confidence(actor=curator, pattern=pattern, confidence=0.4, reason="less")
    assert kept.prior_weight == 20, "left out, it stays"


@pytest.mark.database
@pytest.mark.django_db
def test_unused_votes_fade_step_by_step_and_each_step_says_so(agent, project, pattern):
    halving(project)
    for worked in (True, True, True, False):
        actions.record_evidence(actor=agent, pattern=pattern, worked=worked)
    age(pattern, 31)
    assert not fade_unused()
    once = Pattern.objects.get()
    assert (once.worked_count, once.failed_count, once.votes, once.version) == (3, 1, (1.5, 0.5), 1)
    assert once.confidence_score == pytest.approx((0.5 * 4 + 1.5) / 6) == once.posterior
    step = Evidence.objects.first()
    assert (step.cause, step.votes_after, step.actor_name) == ("decay", 6, "decay")
    assert "Unused for 30 days" in step.note
    assert Revision.objects.first().verb == "decay"
    assert not fade_unused()
    assert Pattern.objects.get().votes == (1.5, 0.5), "the step itself was a change of the row"
    age(pattern, 95)
    assert not fade_unused()
    assert Pattern.objects.get().votes == pytest.approx((1.5 / 8, 0.5 / 8))
    assert "halved 3 times" in Evidence.objects.first().note
    voted = actions.record_evidence(actor=agent, pattern=once, worked=True)
    assert voted.votes == pytest.approx((1.5 / 8 + 1, 0.5 / 8)), "a new vote counts whole"
    assert voted.worked_count == 4


@pytest.mark.database
@pytest.mark.django_db
def test_what_has_faded_is_not_taken_for_plain_sql(agent, curator, project, pattern):
    halving(project)
    actions.record_evidence(actor=agent, pattern=pattern, worked=True)
    age(pattern, 31)
    fade_unused()
    sweep()
    faded = Pattern.objects.get()
    assert (faded.votes, faded.version) == ((0.5, 0), 1)
    actions.edit_pattern(actor=curator, pattern=faded, changes={"name": "Other"}, expected_version=1)
    assert Pattern.objects.get().votes == (0.5, 0)
    # And a confidence that SQL writes becomes the new prior, with nothing left to fade.
    with writing():
        Pattern.objects.update(confidence_score=0.2)
    sweep()
    taken = Pattern.objects.get()
    assert (taken.prior_confidence, taken.confidence_score, taken.votes) == (0.2, 0.2, (0, 0))
    assert taken.worked_faded is None


@pytest.mark.django_db
def test_votes_faded_taken_back_and_given_anew_stay_votes(agent, curator, project, pattern):
    """Whatever is done to a pattern that faded, its confidence follows from its votes: it is nobody's by SQL."""
    halving(project)
    actions.record_evidence(actor=agent, pattern=pattern, worked=True)
    actions.record_evidence(actor=agent, pattern=pattern, worked=False)
    given = Revision.objects.filter(verb="worked").get().act
    age(pattern, 31)
    fade_unused()
    undo(given, actor=curator)
    undo(Revision.objects.first().act, actor=curator)
    assert Pattern.objects.get().votes == (0.5, 0.5), "given again, it counts as it did"
    undo(given, actor=curator)
    again = actions.record_evidence(actor=agent, pattern=pattern, worked=True)
    assert again.votes == (1, 0.5), "a new vote counts whole"
    actions.adjust_confidence(actor=curator, pattern=again, confidence=0.9, reason="seen")
    undo(Revision.objects.first().act, actor=curator)
    back = Pattern.objects.get()
    assert (back.votes, back.confidence_score) == ((1, 0.5), pytest.approx(3 / 5.5))
    sweep()
    assert not Revision.objects.filter(channel="sql").exists()
    assert not Evidence.objects.filter(cause="sql").exists()


@pytest.mark.django_db
def test_faded_votes_are_merged_as_they_count_and_come_back_so(agent, curator, project, pattern):
    halving(project)
    other = actions.create_pattern(actor=agent, project=project, category="cache", name="Cache aside")
    for worked in (True, True, False):
        actions.record_evidence(actor=agent, pattern=other, worked=worked)
    age(other, 31)
    fade_unused()
    actions.record_evidence(actor=agent, pattern=pattern, worked=True)
    act = Revision.objects.first().act
    merge(pattern, [other], actor=curator)
    both = Pattern.objects.get(pk=pattern.pk)
    assert (both.worked_count, both.failed_count, both.votes) == (3, 1, (2, 0.5))
    assert both.confidence_score == both.posterior
    undo(Revision.objects.exclude(act=act).order_by("-id").first().act, actor=curator)
    assert [one.votes for one in Pattern.objects.order_by("pk")] == [(1, 0), (1, 0.5)]


@pytest.mark.django_db
def test_what_was_erased_fades_no_more_and_stops_no_other(agent, project, pattern):
    halving(project)
    other = actions.create_pattern(actor=agent, project=project, category="cache", name="Read-through")
    for one in (pattern, other):
        actions.record_evidence(actor=agent, pattern=one, worked=True)
    erase([pattern], actor=Actor.command("erase"), reason="a name in it")
    age(pattern, 31)
    age(other, 31)
    assert not fade_unused()
    assert [one.votes for one in Pattern.objects.order_by("pk")] == [(1, 0), (0.5, 0)]


@pytest.mark.database
@pytest.mark.django_db
def test_only_what_is_due_fades(agent, project, other_project, pattern):
    actions.record_evidence(actor=agent, pattern=pattern, worked=True)
    age(pattern, 400)
    assert not fade_unused()
    assert Pattern.objects.get().votes == (1, 0), "no policy, no fading"
    halving(other_project)
    fade_unused()
    assert Pattern.objects.get().votes == (1, 0), "another project's policy"
    halving(project, 365)
    age(pattern, 364)
    fade_unused()
    assert fade(pattern.pk, 365) is None
    assert Pattern.objects.get().votes == (1, 0)
    age(pattern, 366)
    assert fade_unused(seconds=-1) is True
    assert Pattern.objects.get().votes == (1, 0)
    for _ in range(8):
        age(pattern, 366)
        fade_unused()
    assert Evidence.objects.filter(cause="decay").count() == 5, "below 0.05 votes nothing is left to fade"
    assert fade(10**6, 30) is None


def test_a_chore_rests_once_it_has_found_nothing_more(monkeypatch):
    monkeypatch.setattr(followers, "_chores", {})
    left = [True, False, False]
    followers.add_chore("some", lambda: left.pop(0), every=60)
    (chore,) = followers.chores().values()
    assert [chore(), chore(), chore()] == [True, False, False]
    assert left == [False]
    assert "fade unused votes" in FADES


def url(name, pattern):
    return reverse(f"patterns:{name}", args=["shop", pattern.pk])


@pytest.mark.django_db
def test_the_page_shows_causes_effects_interval_and_formula(client, viewer_user, agent, curator, pattern):
    actions.record_evidence(actor=agent, pattern=pattern, worked=False, note="<b>broke</b> twice")
    client.force_login(viewer_user)
    page = client.get(url("detail", pattern)).content.decode()
    low, high = interval_of(0.4, 5)
    for text in (
        f"95 % between {low:.2f} and {high:.2f}", "(0.50 × 4 + 0) / (4 + 0 + 1) = <b>0.40</b>", "<polygon",
        "&lt;b&gt;broke&lt;/b&gt; twice", "ses-8841", "Gelman", "Votes do not fade",
    ):  # fmt: skip
        assert text in page, text


@pytest.mark.django_db
def test_a_pattern_is_retired_with_a_reason_shown_so_and_taken_back(client, curator_user, pattern):
    client.force_login(curator_user)
    assert client.post(url("retire", pattern), {"version": "1", "reason": " "}).status_code == 422
    answer = client.post(url("retire", pattern), {"version": "1", "reason": "Redis is gone"})
    assert answer.status_code == 303
    retired = Pattern.objects.get()
    assert retired.archived_at is not None
    revision = Revision.objects.first()
    assert (revision.verb, revision.reason, revision.version) == ("retire", "Redis is gone", 2)
    page = client.get(url("detail", pattern)).content.decode()
    for text in ("retired", "Redis is gone", "Take back into use"):
        assert text in page, text
    assert "Cache-aside" not in client.get("/p/shop/patterns/").content.decode()
    assert ">retired<" in client.get("/p/shop/patterns/?show=all").content.decode()
    assert client.post(url("retire", pattern), {"version": "2", "reason": "again"}).status_code == 303
    assert Pattern.objects.get().version == 2, "already done is a no-op"
    assert client.post(url("unretire", pattern), {"version": "1"}).status_code == 409
    assert client.post(url("unretire", pattern), {"version": "2"}).status_code == 303
    assert Pattern.objects.get().archived_at is None
    assert Revision.objects.first().verb == "unretire"


@pytest.mark.django_db
def test_who_may_retire(viewer, stranger, curator, pattern):
    for actor in (viewer, stranger):
        with pytest.raises(NotAllowed):
            actions.retire_pattern(actor=actor, pattern=pattern, reason="x")
    verbs.archive([pattern], actor=curator)
    with pytest.raises(Conflict):
        actions.unretire_pattern(actor=curator, pattern=pattern, expected_version=1)

"""The pattern pages: list, detail, create, edit; confidence by number with a reason; worked and failed."""

import re

import pytest
from django.urls import reverse

from patterns.actions import adjust_confidence, create_pattern, edit_pattern, record_evidence
from patterns.models import Evidence, Pattern
from projects.models import Project
from records.actor import Actor
from records.models import ProjectionMark, Revision

pytestmark = pytest.mark.django_db


@pytest.fixture
def pattern(agent, project):
    return create_pattern(
        actor=agent, project=project, category="cache", name="Cache-aside", description="Read **through**.",
        code_example="cache.get(key)", language="python", tags=["redis"],
    )  # fmt: skip


def url(name, *args):
    return reverse(f"patterns:{name}", args=["shop", *args])


def test_the_list_and_the_detail_show_what_was_written(as_curator, pattern):
    page = as_curator.get(url("list")).content.decode()
    assert "Cache-aside" in page
    assert "0.50" in page
    page = as_curator.get(url("detail", pattern.pk)).content.decode()
    for text in (
        "<strong>through</strong>",
        "cache",
        'data-language="python"',
        "Starting point 0.50, weighing 4 votes",
    ):
        assert text in page, text


def test_create_starts_from_the_confidence_that_was_given(as_curator, project):
    answer = as_curator.post(
        url("create"), {"name": "Retry", "category": "net", "confidence": "0.8", "reason": "seen"}
    )
    made = Pattern.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, url("detail", made.pk))
    assert (made.confidence_score, made.prior_confidence, made.review_state) == (0.8, 0.8, "approved")
    assert Evidence.objects.get().note == "seen"
    assert Revision.objects.get().reason == "seen"


@pytest.mark.parametrize(
    "confidence", ["", "1.01", "-0.1", "nan", "inf", "1e999", "half", "0,5", "0.5\x00", "²"]
)
def test_a_confidence_that_is_no_number_from_0_to_1_is_explained(as_curator, pattern, confidence):
    for address, more in (
        (url("create"), {"name": "R", "category": "c"}),
        (url("confidence", pattern.pk), {"reason": "x"}),
    ):
        answer = as_curator.post(address, {**more, "confidence": confidence})
        assert answer.status_code == 422, address
        assert "errorlist" in answer.content.decode()
    assert Pattern.objects.get().confidence_score == 0.5


def test_confidence_is_adjusted_with_a_reason_and_the_votes_count_anew(as_curator, pattern, agent):
    record_evidence(actor=agent, pattern=pattern, worked=True)
    address = url("confidence", pattern.pk)
    assert as_curator.get(address).status_code == 200
    assert as_curator.post(address, {"confidence": "0.9", "version": "1"}).status_code == 422
    answer = as_curator.post(address, {"confidence": "0.9", "reason": "used for a year", "version": "1"})
    assert answer.status_code == 303
    kept = Pattern.objects.get()
    assert (kept.confidence_score, kept.prior_confidence, kept.worked_count, kept.usage_count) == (
        0.9,
        0.9,
        0,
        1,
    )
    revision = Revision.objects.first()
    assert (revision.verb, revision.reason, revision.channel) == (
        "adjust_confidence",
        "used for a year",
        "web",
    )
    assert ProjectionMark.objects.get().wanted_version == 2
    page = as_curator.get(url("detail", pattern.pk)).content.decode()
    assert "used for a year" in page
    assert "confidence after each step: 0.50, 0.60, 0.90" in page
    points = re.search(r'<polyline points="([^"]+)"', page)[1].split()
    assert len(points) == 3
    heights = [float(point.split(",")[1]) for point in points]
    assert heights[0] > heights[1] > heights[2], "more confidence is drawn higher"


def test_the_same_confidence_again_is_a_no_op(as_curator, pattern):
    data = {"confidence": "0.5", "reason": "still so", "version": "1"}
    assert as_curator.post(url("confidence", pattern.pk), data).status_code == 303
    assert (Pattern.objects.get().version, Revision.objects.count(), Evidence.objects.count()) == (1, 1, 1)


def test_what_the_form_shows_rounded_and_is_left_so_is_not_changed(as_curator, pattern, curator, agent):
    adjust_confidence(actor=curator, pattern=pattern, confidence=0.5, weight=8 / 3, reason="measured")
    record_evidence(actor=agent, pattern=pattern, worked=True)
    exact = Pattern.objects.get().confidence_score
    page = as_curator.get(url("detail", pattern.pk)).content.decode()
    shown = dict(re.findall(r'name="(confidence|weight)"[^>]*? value="([^"]*)"', page))
    assert shown == {"confidence": "0.64", "weight": "2.67"}
    as_curator.post(url("confidence", pattern.pk), {**shown, "reason": "as it is", "version": "2"})
    kept = Pattern.objects.get()
    assert (kept.version, kept.prior_confidence, kept.prior_weight) == (3, exact, 8 / 3)


def test_an_agents_word_for_its_run_is_a_link_only_where_it_can_be_one(as_curator, pattern, agent):
    for run in ("9F2B6F0E-54B1-4E0C-8D0E-1C1F0A1B2C3D", "nightly"):
        actor = Actor.agent(agent.token, run=run)
        record_evidence(actor=actor, pattern=pattern, worked=True)
    page = as_curator.get(url("detail", pattern.pk)).content.decode()
    assert 'href="/r/run_9f2b6f0e54b14e0c8d0e1c1f0a1b2c3d/"' in page
    assert ">nightly</span>" in page


def test_a_stale_confidence_shows_both_numbers_and_keeps_the_reason(as_curator, pattern, curator):
    adjust_confidence(actor=curator, pattern=pattern, confidence=0.7, reason="mine")
    answer = as_curator.post(
        url("confidence", pattern.pk), {"confidence": "0.25", "reason": "broke twice", "version": "1"}
    )
    page = answer.content.decode()
    assert answer.status_code == 409
    for text in ("0.7", "0.25", "broke twice", 'name="version" value="2"'):
        assert text in page, text
    assert Pattern.objects.get().confidence_score == 0.7


def test_worked_and_failed_move_the_confidence_without_a_version(as_curator, pattern):
    for verb, expected in (("worked", 3 / 5), ("failed", 3 / 6)):
        assert as_curator.get(url(verb, pattern.pk)).status_code == 200
        assert as_curator.post(url(verb, pattern.pk), {"note": f"it {verb}"}).status_code == 303
        assert Pattern.objects.get().confidence_score == pytest.approx(expected)
    kept = Pattern.objects.get()
    assert (kept.worked_count, kept.failed_count, kept.usage_count, kept.version) == (1, 1, 2, 1)
    assert list(Revision.objects.values_list("verb", "version")) == [
        ("failed", None),
        ("worked", None),
        ("create", 1),
    ]
    page = as_curator.get(url("detail", pattern.pk)).content.decode()
    for text in ("it worked", "it failed", "said it worked (confidence 0.60)", "1 worked, 1 failed"):
        assert text in page, text


@pytest.mark.parametrize("note", ["a\x00b", "x" * (1024 * 1024 + 1)])
def test_a_note_that_no_database_keeps_is_explained(as_curator, pattern, note):
    assert as_curator.post(url("worked", pattern.pk), {"note": note}).status_code == 422
    assert Pattern.objects.get().usage_count == 0


def test_a_stale_edit_conflicts_and_an_unchanged_one_writes_nothing(as_curator, pattern, curator):
    data = {
        "name": "Cache-aside", "category": "cache", "description": "Read **through**.", "language": "python",
        "code_example": "cache.get(key)", "tags": "redis",
    }  # fmt: skip
    assert as_curator.post(url("edit", pattern.pk), {**data, "version": "1"}).status_code == 303
    assert Revision.objects.count() == 1
    edit_pattern(actor=curator, pattern=pattern, changes={"name": "Theirs"})
    answer = as_curator.post(url("edit", pattern.pk), {**data, "name": "Mine", "version": "1"})
    assert answer.status_code == 409
    assert "Theirs" in answer.content.decode()
    assert 'value="Mine"' in answer.content.decode()
    assert (
        as_curator.post(url("edit", pattern.pk), {**data, "name": "Mine", "version": "2"}).status_code == 303
    )
    assert (Pattern.objects.get().name, Pattern.objects.get().version) == ("Mine", 3)


@pytest.mark.parametrize("name", ["detail", "edit", "confidence", "worked", "failed"])
def test_another_projects_pattern_is_not_here(as_curator, agent, curator_user, name):
    other = Project.objects.create(name="Bank", slug="bank")
    from records.actor import SQL_WRITER

    made = create_pattern(actor=SQL_WRITER, project=other, category="c", name="Secret")
    for method in (as_curator.get, as_curator.post):
        if name == "detail" and method == as_curator.post:
            continue
        answer = method(url(name, made.pk))
        assert answer.status_code == 404
    assert as_curator.get(url(name, 10**30)).status_code == 404


def test_a_viewer_reads_and_sees_no_verb(client, viewer_user, pattern):
    client.force_login(viewer_user)
    page = client.get(url("detail", pattern.pk)).content.decode()
    assert "confidence-form" not in page
    assert url("worked", pattern.pk) not in page
    assert client.post(url("worked", pattern.pk)).status_code == 403


def test_the_history_of_a_much_used_pattern_stays_small(as_curator, pattern, agent):
    for number in range(60):
        record_evidence(actor=agent, pattern=pattern, worked=bool(number % 3))
    page = as_curator.get(url("detail", pattern.pk)).content.decode()
    assert page.count("<tr>") <= 60
    assert len(re.search(r'<polyline points="([^"]+)"', page)[1].split()) == 50

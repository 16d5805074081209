"""The generated load is a desk like any other: nothing waits, nothing is adrift, its history holds."""

import io

import pytest
from django.core.management import CommandError, call_command

from decisions.actions import edit_decision
from decisions.models import Decision, Outcome
from desk.reference.layout import project_shares
from patterns.kind import PATTERN
from patterns.models import Pattern
from projects.models import Project
from recall.models import Embedding, Similarity
from recall.similar import rebuild_similarities
from records.actor import Actor
from records.images import image_of
from records.kinds import all_kinds, graph_kinds
from records.models import Link, ProjectionMark, Read, RecordTag, Revision
from records.sweep import sweep

pytestmark = [pytest.mark.django_db, pytest.mark.mysql]
ACTOR = Actor.command("test")


def generate(*options, **given):
    out = io.StringIO()
    call_command("generate_memory", *options, "--until", "2026-11-30", stdout=out, **given)
    return out.getvalue()


@pytest.fixture
def load(db):
    return generate("--nodes", "150", "--encoded", "12")


def rows(model, *columns):
    return list(model.objects.order_by(*columns).values_list(*columns))


def test_the_load_has_the_nodes_and_relations_that_were_asked_for(load):
    assert sum(kind.model.objects.count() for kind in graph_kinds()) == 150
    alike = {tuple(sorted(pair)) for pair in rows(Similarity, "source", "target") if "mem" not in str(pair)}
    assert len(alike) + Link.objects.count() + Outcome.objects.count() == 600
    assert "600 relations of the graph" in load
    assert Read.objects.count() == 300
    assert RecordTag.objects.exists()


def test_the_desk_is_consistent_as_if_verbs_and_worker_had_made_it(load):
    before = rows(Similarity, "source", "target", "score")
    assert sweep() == 0
    for project in Project.objects.all():
        rebuild_similarities(project.pk)
    assert [row[:2] for row in rows(Similarity, "source", "target", "score")] == [row[:2] for row in before]
    assert not ProjectionMark.objects.exclude(next_try_at=None).exists()
    for kind in all_kinds():
        for record in kind.model.objects.all():
            versions = list(
                Revision.objects.filter(node_id=record.node_id, version__isnull=False).order_by("version")
            )
            assert [one.version for one in versions] == list(range(1, record.version + 1))
            assert versions[-1].after == image_of(record)
    assert not any(PATTERN.is_foreign(pattern) for pattern in Pattern.objects.all())
    assert not Outcome.objects.exclude(project_id__isnull=True).exclude(
        pk__in=[
            one.pk
            for one in Outcome.objects.select_related("decision")
            if one.project_id == one.decision.project_id
        ]
    )


def test_a_generated_decision_is_edited_like_any_other(load):
    decision = Decision.objects.get(pk=1)
    edited = edit_decision(
        actor=ACTOR, decision=decision, changes={"title": "Other"}, expected_version=decision.version
    )
    assert edited.version == decision.version + 1
    assert Revision.objects.filter(node_id="dec_1").order_by("-id")[0].verb == "edit"


def test_synthetic_vectors_are_told_apart_from_those_of_the_encoder(load):
    vectors = Embedding.objects.filter(part=0)
    assert vectors.count() == 156
    real = vectors.exclude(content_hash__startswith="synthetic-").count()
    assert 12 <= real < 156
    assert f"{real:,} by the encoder" in load
    assert f"{156 - real:,} synthetic" in load


def test_the_same_seed_gives_the_same_desk(load):
    said = [
        rows(Decision, "pk", "title", "decision", "decided_at"),
        rows(Embedding, "node_id", "part", "vector"),
    ]
    for model in (Read, Link, Similarity, Embedding, ProjectionMark, Revision, RecordTag):
        model._base_manager.all()._raw_delete("default")
    projects = list(Project.objects.values_list("slug", flat=True))
    _empty()
    generate("--nodes", "150", "--encoded", "12")
    assert said == [
        rows(Decision, "pk", "title", "decision", "decided_at"),
        rows(Embedding, "node_id", "part", "vector"),
    ]
    assert list(Project.objects.values_list("slug", flat=True)) == projects


def _empty():
    from patterns.models import Evidence
    from pitfalls.models import Encounter, Pitfall
    from runs.models import Memory, PayloadValue, Run
    from work_sessions.models import WorkSession

    models = (
        Evidence,
        Encounter,
        Outcome,
        Memory,
        PayloadValue,
        Run,
        WorkSession,
        Pitfall,
        Pattern,
        Decision,
        Project,
    )
    for model in models:
        model._base_manager.all()._raw_delete("default")


def test_a_desk_that_is_not_empty_is_left_alone_unless_told(load):
    with pytest.raises(CommandError, match="not empty"):
        generate("--nodes", "60")
    before = Decision.objects.count()
    generate("--nodes", "60", "--encoded", "0", "--add")
    assert Decision.objects.count() > before
    assert sweep() == 0


def test_pending_leaves_the_vectors_to_the_worker(db):
    said = generate("--nodes", "60", "--pending")
    assert "the worker makes them" in said
    assert not Embedding.objects.exists()
    assert not Similarity.objects.exists()
    assert ProjectionMark.objects.filter(next_try_at=None).count() == 0


def test_too_few_nodes_are_refused(db):
    with pytest.raises(CommandError, match="At least 50"):
        generate("--nodes", "9")


def test_the_largest_of_sixty_projects_has_a_third():
    shares = project_shares(60)
    assert 0.3 < shares[0] < 0.4
    assert shares[-1] < 0.005

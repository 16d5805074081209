"""Embeddings follow the record: what changed is encoded again, what did not is left alone."""

import hashlib

import numpy as np
import pytest

from decisions.actions import create_decision, edit_decision
from decisions.kind import DECISION
from decisions.models import Decision
from pitfalls.actions import create_pitfall
from recall import embedder
from recall.models import Embedding
from recall.vectors import configured_encoder
from records.guard import writing
from runs.models import Memory, Run

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
LONG = "\n\n".join(
    f"## Part {n}\n\n" + f"Sentence {n} about caching order totals in Redis. " * 30 for n in range(4)
)


class Counting:
    """The configured encoder, and the texts that it was given."""

    def __init__(self):
        self.encoder = configured_encoder()
        self.name, self.dimension = self.encoder.name, self.encoder.dimension
        self.calls = []

    def encode(self, texts):
        self.calls.append(list(texts))
        return self.encoder.encode(texts)


def embed(*records, **options):
    encoder = Counting()
    embedder.embed(embedder.plan(records, encoder), encoder, **options)
    return encoder


def ids():
    return dict(Embedding.objects.values_list("part", "id"))


def test_a_record_has_its_own_vector_and_one_for_each_passage(agent, project):
    decision = create_decision(actor=agent, project=project, title="Cache totals", decision=LONG)
    encoder = embed(decision)
    rows = list(Embedding.objects.order_by("part"))
    assert len(encoder.calls) == 1
    assert [row.part for row in rows] == list(range(len(rows)))
    assert len(rows) > 3
    body = "## Decision\n\n" + LONG
    assert " ".join(body[row.start : row.end] for row in rows[1:]).split() == body.split()
    for row in rows:
        vector = np.frombuffer(bytes(row.vector), "<f4")
        assert (row.project_id, row.kind, row.model, vector.shape) == (
            project.pk,
            "decision",
            encoder.name,
            (384,),
        )
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_nothing_is_encoded_or_written_again_when_nothing_changed(agent, project):
    decision = create_decision(actor=agent, project=project, title="Cache totals", decision=LONG)
    embed(decision)
    before = ids()
    assert embed(decision).calls == []
    assert ids() == before


def test_an_edit_encodes_the_changed_passages_only(agent, curator, project):
    decision = create_decision(
        actor=agent, project=project, title="T", decision=LONG, rationale="Because of load."
    )
    embed(decision)
    before = ids()
    decision = edit_decision(
        actor=curator, decision=decision, changes={"rationale": "Because of the latency."}
    )
    encoder = embed(Decision.objects.get(pk=decision.pk))
    assert len(encoder.calls[0]) <= 2
    after = ids()
    assert after[0] == before[0]
    assert sum(after[part] == before[part] for part in before if part in after) >= len(before) - 2


def test_a_passage_that_only_moved_keeps_its_vector_with_its_new_place(agent, curator, project):
    pitfall = create_pitfall(actor=agent, project=project, category="db", title="Pool", description=LONG)
    embed(pitfall)
    last = Embedding.objects.order_by("-part").first()
    with writing():
        type(pitfall).objects.update(description="## New\n\n" + "Other words. " * 90 + "\n\n" + LONG)
    pitfall.refresh_from_db()
    encoder = embed(pitfall)
    assert not any("Part 3" in text for text in encoder.calls[0])
    moved = Embedding.objects.get(content_hash=last.content_hash)
    assert moved.start > last.start
    assert bytes(moved.vector) == bytes(last.vector)


def test_passages_that_are_no_more_are_deleted(agent, project):
    pitfall = create_pitfall(actor=agent, project=project, category="db", title="Pool", description=LONG)
    embed(pitfall)
    with writing():
        type(pitfall).objects.update(description="Short.")
    pitfall.refresh_from_db()
    embed(pitfall)
    assert sorted(ids()) == [0, 1]


def test_equal_texts_are_encoded_once(agent, project):
    pitfalls = [
        create_pitfall(actor=agent, project=project, category="db", title="Pool", description="It drains.")
        for _ in range(5)
    ]
    encoder = embed(*pitfalls)
    assert [len(call) for call in encoder.calls] == [1]
    assert Embedding.objects.count() == 10


@pytest.mark.parametrize(
    ("title", "fields", "texts"),
    [
        ("Pool", {"decision": "Pin it to 20."}, ["Pool\nPin it to 20."]),
        ("Pool", {"decision": "## Why\n\nIt drains."}, ["Pool\n## Why\n\nIt drains."]),
        (
            "Pool",
            {"decision": "Pin it.", "rationale": "It drains."},
            ["Pool\nPin it.", "Pool\n## Decision\n\nPin it.\n\n## Rationale\n\nIt drains."],
        ),
        (
            "a " * 90,  # the record vector's text has no room for all of what follows
            {"decision": ("b " * 180).strip()},
            ["a " * 90 + "\n" + "b " * 164, "a " * 24 + "\n## Decision\n\n" + "b " * 180],
        ),
    ],
)
def test_one_short_text_is_encoded_once_as_the_record_and_as_its_passage(
    agent, project, title, fields, texts
):
    decision = create_decision(actor=agent, project=project, title=title.strip(), **fields)
    encoder = embed(decision)
    sent = [[line.strip() for line in text.split("\n")] for text in encoder.calls[0]]
    assert sorted(sent) == sorted([line.strip() for line in text.split("\n")] for text in texts)
    body = DECISION.body_of(decision)
    assert list(Embedding.objects.order_by("part").values_list("part", "start", "end")) == [
        (0, 0, 0),
        (1, 0, len(body)),
    ]
    assert embed(decision).calls == []


def memory(project, embedding, model=None):
    with writing():
        run = Run.objects.create(project=project, agent_name="bot")
        made = Memory(
            project=project,
            agent_name="bot",
            summary="Restarted db-2.",
            embedding=embedding,
            embedding_model=model,
        )
        made.source_run_fk = run
        made.save(force_insert=True)
    return Memory.objects.get(pk=made.pk)


GIVEN = [0.5] * 384


@pytest.mark.parametrize("model", [None, "", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_a_vector_that_came_with_the_row_is_kept_at_unit_length(project, model):
    encoder = embed(memory(project, GIVEN, model))
    row = Embedding.objects.get(part=0)
    assert np.allclose(np.frombuffer(bytes(row.vector), "<f4"), 1 / np.sqrt(384))
    assert len(encoder.calls[0]) == 1  # its passage
    expected = hashlib.sha256(b"given\0" + bytes(row.vector)).hexdigest()
    assert row.content_hash == expected


@pytest.mark.parametrize(
    ("embedding", "model"),
    [
        (GIVEN, "text-embedding-3-small"),
        (GIVEN[:-1], None),
        ([0.0] * 384, None),
        ([True] * 384, None),
        (["1"] * 384, None),
        ({"0": 1.0}, None),
        ("0.5", None),
    ],
)
def test_a_vector_of_another_space_or_none_at_all_is_not_taken(project, embedding, model):
    embed(memory(project, embedding, model))
    vector = np.frombuffer(bytes(Embedding.objects.get(part=0).vector), "<f4")
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert vector.std() > 0.01


def test_a_number_beyond_any_float_is_not_taken():
    assert embedder._given_vector(([10**400] * 384, None), configured_encoder()) is None


def test_only_what_the_caller_may_still_write_is_written(agent, project):
    first, second = (
        create_decision(actor=agent, project=project, title=title, decision="D") for title in ("One", "Two")
    )
    encoder = configured_encoder()
    written = embedder.embed(
        embedder.plan([first, second], encoder), encoder, may_write=lambda node_ids: {second.node_id}
    )
    assert written == {second.node_id}
    assert set(Embedding.objects.values_list("node_id", flat=True)) == {second.node_id}


def test_a_part_that_another_worker_stored_meanwhile_is_no_failure(agent, project):
    decision = create_decision(actor=agent, project=project, title="One", decision="D")
    encoder = configured_encoder()
    late = embedder.plan([decision], encoder)
    embed(decision)
    before = ids()
    assert embedder.embed(late, encoder) == {decision.node_id}
    assert ids() == before


def test_a_move_to_another_project_moves_the_vectors_without_encoding(agent, project, other_project):
    decision = create_decision(actor=agent, project=project, title="One", decision="D")
    embed(decision)
    decision.project_id = other_project.pk
    assert embed(decision).calls == []
    assert set(Embedding.objects.values_list("project_id", flat=True)) == {other_project.pk}


def test_vectors_of_another_model_are_neither_compared_nor_touched(agent, project):
    decision = create_decision(actor=agent, project=project, title="One", decision="D")
    embed(decision)
    Embedding.objects.update(model="another")
    embed(decision)
    assert Embedding.objects.filter(model="another").count() == 2
    assert Embedding.objects.filter(model=configured_encoder().name).count() == 2


def test_portions_never_part_a_record_and_keep_a_long_one_from_the_others(agent, project):
    records = [create_decision(actor=agent, project=project, title=f"D {n}", decision="x") for n in range(3)]
    records[1].decision = "Words of a very long record. " * 20_000
    groups = list(embedder.by_size(records))
    assert [len(group) for group in groups] == [1, 1, 1]
    plans = embedder.plan(groups[1], configured_encoder())
    assert [len(portion) for portion in embedder.portions(plans)] == [1]

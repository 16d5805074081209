"""Exact top k: equals the plain sort, in any project, after any change."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.topk import Hit, Vector, VectorSet


def vectors(count, dimension=384, seed=1):
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def plain_top(rows, query, project_ids, k, exclude=(), kinds=None):
    """The definition: the best part of each record, highest first, ties by id."""
    best = {}
    for row in rows:
        if row.project_id not in project_ids or row.node_id in exclude:
            continue
        if kinds is None or row.node_id.split("_")[0] in kinds:
            score = round(float(np.dot(row.vector.astype(np.float64), query)), 5)
            best[row.node_id] = max(score, best.get(row.node_id, -2))
    return sorted(best, key=lambda node_id: (-best[node_id], node_id))[:k]


SMALL = st.lists(
    st.tuples(
        st.sampled_from(["dec_1", "dec_2", "dec_10", "pit_1", "pit_2", "out_7"]),
        st.integers(1, 2),
        st.integers(0, 7),
        st.integers(0, 2),
    ),
    max_size=25,
)


@given(SMALL, st.integers(0, 7), st.integers(1, 8), st.sets(st.sampled_from(["dec_1", "pit_2"])),
       st.sampled_from([None, {"dec"}, {"dec", "out"}]))  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_top_is_the_plain_sort(drawn, query, k, exclude, kinds):
    pool = vectors(8, 8)
    unique = {
        (node, part): Vector(f"{node}{project}", project, pool[v], part) for node, project, v, part in drawn
    }
    rows = list({(row.node_id, row.part): row for row in unique.values()}.values())
    made = VectorSet.build(rows, dimension=8)
    for project_id in (1, 2, (1, 2)):
        wanted = plain_top(
            rows,
            pool[query],
            {project_id} if isinstance(project_id, int) else set(project_id),
            k,
            exclude,
            kinds,
        )
        hits = made.top(pool[query], project_id, k, exclude, kinds)
        assert [hit.node_id for hit in hits] == wanted


def test_equal_vectors_come_in_the_order_of_their_ids():
    same = vectors(1)[0]
    rows = [(f"dec_{n:04}", 1, same.tobytes()) for n in reversed(range(1003))]
    hits = VectorSet.build(rows).top(same, 1, 5)
    assert [hit.node_id for hit in hits] == [f"dec_{n:04}" for n in range(5)]
    assert hits[0].score == pytest.approx(1)


def test_a_record_is_found_once_by_its_best_part():
    pool = vectors(3)
    made = VectorSet.build([Vector("dec_1", 1, pool[n], n) for n in range(3)])
    assert made.top(pool[2], 1, 10) == [Hit("dec_1", 1.0, 2)]


def test_other_projects_are_never_seen():
    pool = vectors(2)
    made = VectorSet.build([("dec_1", 1, pool[0].tobytes()), ("dec_2", 2, pool[1].tobytes())])
    assert [hit.node_id for hit in made.top(pool[1], 1, 10)] == ["dec_1"]
    assert made.top(pool[1], 3, 10) == []


def test_records_are_added_replaced_and_removed():
    pool = vectors(4)
    made = VectorSet.build([Vector("dec_1", 1, pool[0], 1), Vector("dec_1", 1, pool[1], 2)])
    made.put([("dec_2", 1, pool[2].tobytes())])
    assert len(made) == 3
    made.put([Vector("dec_1", 1, pool[3], 1)])
    assert len(made) == 2
    assert made.top(pool[3], 1, 1)[0].node_id == "dec_1"
    assert made.top(pool[1], 1, 1)[0].score < 0.5
    made.remove(1, ["dec_1", "dec_99"])
    assert [hit.node_id for hit in made.top(pool[3], 1, 9)] == ["dec_2"]
    made.remove(1, ["dec_2"])
    assert (len(made), made.projects()) == (0, [])


@pytest.mark.parametrize(
    ("vector", "fault"),
    [
        (b"\x00" * 12, "12 bytes"),
        (np.zeros(384, np.float32), "no direction"),
        (np.full(384, np.nan, np.float32), "no direction"),
        (np.ones(3, np.float32), "shape"),
    ],
)
def test_a_vector_that_cannot_be_found_is_named(vector, fault):
    good = vectors(1)[0]
    made = VectorSet.build([("dec_1", 1, vector), ("dec_2", 1, good)])
    assert fault in made.rejected["dec_1"]
    assert [hit.node_id for hit in made.top(good, 1, 9)] == ["dec_2"]
    with pytest.raises(ValueError, match=fault):
        made.top(vector, 1, 1)


def test_lengths_do_not_matter():
    row = vectors(1)[0]
    made = VectorSet.build([("dec_1", 1, (row * 7).tobytes())])
    assert made.top(row * 0.01, 1, 1)[0].score == pytest.approx(1, abs=1e-5)


def test_scores_below_the_least_are_left_out():
    pool = vectors(2)
    made = VectorSet.build([("dec_1", 1, pool[0]), ("dec_2", 1, pool[1])])
    assert [hit.node_id for hit in made.top(pool[0], 1, 9, at_least=0.5)] == ["dec_1"]


def test_a_saved_set_answers_the_same(tmp_path):
    pool = vectors(60)
    rows = [Vector(f"dec_{n // 2}", n % 3 + 1 if n % 2 else n % 3, pool[n], n % 2) for n in range(60)]
    made = VectorSet.build(rows)
    made.save(tmp_path)
    loaded = VectorSet.load(tmp_path)
    assert loaded.projects() == made.projects()
    for project_id in made.projects():
        assert loaded.top(pool[3], project_id, 10) == made.top(pool[3], project_id, 10)
    loaded.put([("pit_1", 0, pool[5])])
    assert loaded.top(pool[5], 0, 1, kinds={"pit"})[0].node_id == "pit_1"
    VectorSet().save(tmp_path)
    assert len(VectorSet.load(tmp_path)) == 0


def test_reads_during_writes_see_a_whole_project():
    pool = vectors(50)
    made = VectorSet.build([(f"dec_{n}", 1, pool[n]) for n in range(50)])
    faults = []
    stop = threading.Event()

    def read():
        while not stop.is_set():
            hits = made.top(pool[0], 1, 50)
            if len(hits) < 49 or hits[0].node_id != "dec_0":
                faults.append(hits)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for n in range(1, 50):
        made.remove(1, [f"dec_{n}"])
        made.put([(f"dec_{n}", 1, pool[n])])
    stop.set()
    for reader in readers:
        reader.join()
    assert not faults
    assert len(made) == 50

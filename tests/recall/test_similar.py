"""The similarities kept are those that a comparison of everything with everything finds, after every change."""

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from decisions.actions import create_decision
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from projects.models import Project
from recall import similar, vectors
from recall.models import Embedding, Similarity
from recall.queries import similar_to, similar_to_text
from recall.similar import KEPT, rebuild_similarities, update_similarities
from recall.vectors import all_vectors, configured_encoder, forget_vectors, record_vectors
from records import leases
from records.leases import LeaseBusy
from records.verbs import archive, review

pytestmark = [pytest.mark.database, pytest.mark.django_db]
MODEL = "all-MiniLM-L6-v2"


def near(centre, spread, rng):
    vector = centre + spread * rng.standard_normal(384)
    return (vector / np.linalg.norm(vector)).astype("<f4")


class Space:
    """Records of a project as vectors only, and the lists that brute force makes of them."""

    def __init__(self, project, seed=7):
        self.project, self.rng = project, np.random.default_rng(seed)
        self.centres = [self.rng.standard_normal(384) for _ in range(3)]
        self.centres = [centre / np.linalg.norm(centre) for centre in self.centres]

    def new_vector(self):
        return near(self.centres[self.rng.integers(3)], self.rng.uniform(0.02, 0.06), self.rng)

    def put(self, *node_ids):
        Embedding.objects.filter(node_id__in=node_ids, part=0).delete()
        Embedding.objects.bulk_create(
            Embedding(
                node_id=node_id,
                kind="decision",
                project_id=self.project.pk,
                part=0,
                model=MODEL,
                content_hash="x",
                vector=self.new_vector().tobytes(),
            )
            for node_id in node_ids
        )
        update_similarities(dict.fromkeys(node_ids, self.project.pk))

    def remove(self, *node_ids):
        Embedding.objects.filter(node_id__in=node_ids).delete()
        update_similarities({}, node_ids)

    def expected(self):
        rows = Embedding.objects.filter(project_id=self.project.pk, part=0, model=MODEL)
        pairs = [(row.node_id, np.frombuffer(bytes(row.vector), "<f4")) for row in rows]
        ids, matrix = [node_id for node_id, _ in pairs], np.stack([vector for _, vector in pairs])
        cosines = matrix @ matrix.T
        lists = {}
        for row, node_id in enumerate(ids):
            others = [(ids[at], float(cosines[row, at])) for at in range(len(ids)) if at != row]
            best = sorted((pair for pair in others if pair[1] >= 0.5), key=lambda pair: -pair[1])[:KEPT]
            lists[node_id] = dict(best)
        return lists


def kept(project):
    lists = {}
    for source, target, score in Similarity.objects.filter(project_id=project.pk).values_list(
        "source", "target", "score"
    ):
        lists.setdefault(source, {})[target] = score
    return lists


def check(space):
    expected, found = space.expected(), kept(space.project)
    assert found.keys() == {node_id for node_id, best in expected.items() if best}
    for node_id, best in expected.items():
        mine = found.get(node_id, {})
        assert sorted(mine.values()) == pytest.approx(sorted(best.values()), abs=5e-6), node_id
        assert len(mine.keys() ^ best.keys()) <= 2, node_id  # two cosines that agree to six places


def ids(first, last):
    return [f"dec_{number}" for number in range(first, last)]


def test_lists_are_those_of_brute_force_after_every_change(project):
    space = Space(project)
    space.put(*ids(1, 31))
    check(space)
    space.put(*ids(31, 91))  # full lists drop their worst
    check(space)
    space.put("dec_91")
    check(space)
    space.put("dec_3", "dec_40", "dec_41")  # changed: out of some lists, into others
    check(space)
    space.remove("dec_5", "dec_60", "dec_61")  # full lists are refilled
    check(space)
    for step in range(12):
        space.put(f"dec_{1 + step * 7}")
        space.remove(f"dec_{2 + step * 7}")
    check(space)


def test_doing_it_again_writes_nothing(project):
    space = Space(project)
    space.put(*ids(1, 41))
    before = list(Similarity.objects.order_by("id").values_list("id", flat=True))
    update_similarities(dict.fromkeys(ids(1, 41), project.pk))
    assert list(Similarity.objects.order_by("id").values_list("id", flat=True)) == before


def test_a_step_that_was_cut_short_is_made_good_by_doing_it_again(project):
    space = Space(project)
    space.put(*ids(1, 61))
    Embedding.objects.filter(node_id="dec_9").update(vector=space.new_vector().tobytes())
    forget_vectors()
    Similarity.objects.filter(source="dec_9").delete()
    update_similarities({"dec_9": project.pk})
    check(space)


def test_a_rebuild_repairs_lists_that_were_lost_or_made_up(project):
    space = Space(project)
    space.put(*ids(1, 61))
    Similarity.objects.filter(source__in=ids(1, 20)).delete()
    Similarity.objects.create(project_id=project.pk, source="dec_500", target="dec_1", score=0.9)
    assert rebuild_similarities(project.pk) == 60
    check(space)


def test_projects_never_mix_and_a_move_takes_both_sides_along(project, other_project):
    here, there = Space(project), Space(other_project)
    here.put(*ids(1, 41))
    there.put(*ids(101, 131))
    moving = ["dec_1", "dec_2"]
    Embedding.objects.filter(node_id__in=moving).delete()
    there.put(*moving)
    check(here)
    check(there)


def test_a_record_of_no_project_is_in_no_list(project):
    space = Space(project)
    space.put(*ids(1, 11))
    Embedding.objects.filter(node_id="dec_1").update(project_id=None)
    update_similarities({"dec_1": None})
    assert not Similarity.objects.filter(source="dec_1").exists()
    assert not Similarity.objects.filter(target="dec_1").exists()


def test_two_workers_do_not_write_the_same_lists_at_once(project, monkeypatch):
    monkeypatch.setattr(similar, "LEASE_WAIT", 0.2)
    leases.take(f"similarities:{project.pk}", "another worker", 60)
    space = Space(project)
    with pytest.raises(LeaseBusy):
        space.put("dec_1", "dec_2")
    assert not Similarity.objects.exists()


def test_vectors_in_memory_follow_what_others_write(project, other_project, monkeypatch):
    monkeypatch.setattr(vectors, "COUNTED_EVERY", 0)
    space = Space(project)
    space.put(*ids(1, 6))
    assert len(record_vectors([project.pk]).rows_of(project.pk)[0]) == 5
    with CaptureQueriesContext(
        connection,
    ) as queries:
        record_vectors([project.pk])
    assert len(queries) == 1
    late = Embedding.objects.get(node_id="dec_2")
    Embedding.objects.filter(node_id="dec_2").delete()
    assert "dec_2" not in record_vectors([project.pk]).rows_of(project.pk)[0]
    late.save(force_insert=True)  # a transaction that ended late: an id lower than the newest
    assert "dec_2" in record_vectors([project.pk]).rows_of(project.pk)[0]
    Embedding.objects.all().delete()
    assert not record_vectors([project.pk]).rows_of(project.pk)[0]


def test_settled_vectors_are_not_counted_again_until_there_are_new_ones(
    project, other_project, monkeypatch, django_assert_num_queries
):
    now = [1_000.0]
    monkeypatch.setattr(vectors.time, "monotonic", lambda: now[0])
    space = Space(project)
    space.put(*ids(1, 6))

    def held():
        return set(record_vectors([project.pk]).rows_of(project.pk)[0])

    assert len(held()) == 5
    late = Embedding.objects.get(node_id="dec_2")
    late.delete()
    with django_assert_num_queries(1) as looked:
        assert len(held()) == 5
    assert "COUNT" not in looked[0]["sql"]
    now[0] += vectors.COUNTED_EVERY
    assert len(held()) == 4
    now[0] += vectors.UNSETTLED - 1
    late.save(force_insert=True)  # a transaction that ended late
    assert len(held()) == 5
    space.put("dec_6")  # the newest are there at once
    assert len(held()) == 6
    Embedding.objects.filter(node_id="dec_6").delete()
    now[0] += vectors.COUNTED_EVERY
    assert len(held()) == 5
    now[0] += vectors.UNSETTLED + 1
    with django_assert_num_queries(1) as counted:
        held()
    assert "COUNT" in counted[0]["sql"]
    now[0] += 1
    with django_assert_num_queries(1) as looked:
        held()
    assert "COUNT" not in looked[0]["sql"]
    Space(other_project).put("dec_90")  # is none of this project's: it is looked at once
    with django_assert_num_queries(2):
        held()
    with django_assert_num_queries(1):
        held()
    space.put("dec_7")
    assert held() == {*ids(1, 6), "dec_7"}
    now[0] += 2 * vectors.UNSETTLED
    held()
    Embedding.objects.filter(node_id="dec_7").delete()
    assert "dec_7" in held()
    assert "dec_7" not in record_vectors([project.pk], counted=True).rows_of(project.pk)[0]
    now[0] += vectors.SETTLED_COUNTED_EVERY
    Embedding.objects.filter(node_id="dec_5").delete()
    assert held() == set(ids(1, 5))


TEXTS = {
    "Use Redis to cache order totals": "Order totals are cached in Redis for five minutes.",
    "Use Valkey to cache order totals": "Order totals are cached in Valkey for five minutes.",
    "Cache order totals in memory": "Each process caches order totals in its own memory.",
    "Write emails in plain text": "Newsletters are sent without pictures.",
}


def embedded(*records):
    from recall import embedder

    encoder = configured_encoder()
    embedder.embed(embedder.plan(records, encoder), encoder)
    update_similarities({record.node_id: record.project_id for record in records})


@pytest.fixture
def decisions(agent, project):
    made = [create_decision(actor=agent, project=project, title=t, decision=d) for t, d in TEXTS.items()]
    embedded(*made)
    return made


def test_similar_records_come_best_first_with_plain_cosine(decisions):
    found = similar_to(decisions[0])
    assert [one.record.heading for one in found] == [decisions[1].title, decisions[2].title]
    assert 0.5 <= found[1].score < found[0].score <= 1


def test_hidden_records_are_left_out_and_come_back(decisions, curator):
    archive([decisions[1]], actor=curator)
    assert [one.record.pk for one in similar_to(decisions[0])] == [decisions[2].pk]
    assert len(similar_to(decisions[0], include_hidden=True)) == 2
    review([decisions[2]], "approved", actor=curator)
    assert [one.record.pk for one in similar_to(decisions[0], reviewed_only=True)] == [decisions[2].pk]


def test_all_k_come_back_however_many_of_the_nearest_are_hidden(agent, curator, project):
    made = [
        create_decision(actor=agent, project=project, title=f"Use Redis {n}", decision="Cache order totals.")
        for n in range(40)
    ]
    embedded(*made)
    listed = set(Similarity.objects.filter(source=made[0].node_id).values_list("target", flat=True))
    archive([record for record in made if record.node_id in listed], actor=curator)
    found = similar_to(made[0], k=10)
    assert len(found) == 10
    assert not {one.record.node_id for one in found} & listed


def test_one_kind_or_a_lower_score_is_found_beyond_the_list(agent, project, decisions):
    pattern = create_pattern(
        actor=agent, project=project, category="caching", name="Cache-aside", description="Redis."
    )
    embedded(pattern)
    assert [one.record.node_id for one in similar_to(decisions[0], kinds=["pattern"], min_score=0)] == [
        pattern.node_id
    ]
    assert len(similar_to(decisions[0], min_score=-1)) == 4


def test_a_text_finds_the_passage_that_says_it(agent, project, decisions):
    long = "\n\n".join(
        f"## Part {n}\n\n" + "Nothing about that here, only invoices and their numbers. " * 25
        for n in range(3)
    )
    long += (
        "\n\n## Deployment\n\nThe blue and green clusters are swapped by moving the load balancer's weight."
    )
    pitfall = create_pitfall(actor=agent, project=project, category="ops", title="Invoices", description=long)
    embedded(pitfall)
    best = similar_to_text([project.pk], "How do we swap blue and green clusters at the load balancer?", k=3)[
        0
    ]
    assert best.record.node_id == pitfall.node_id
    assert "load balancer" in long[best.start : best.end]
    assert "invoices" not in long[best.start : best.end]


def test_a_text_search_stays_in_the_projects_asked(project, other_project, decisions):
    assert len(similar_to_text([project.pk], "cache order totals", k=2)) == 2
    assert similar_to_text([other_project.pk], "cache order totals") == []
    assert similar_to_text([], "cache order totals") == []
    assert similar_to_text([project.pk], "  ") == []


def test_reading_takes_as_many_queries_for_many_as_for_few(agent, project, decisions):
    def count(read):
        all_vectors([project.pk])
        with CaptureQueriesContext(connection) as queries:
            read()
        return len(queries)

    def by_record():
        return similar_to(decisions[0], k=10)

    def by_text():
        return similar_to_text([project.pk], "cache order totals", k=10)

    few = count(by_record), count(by_text)
    more = [
        create_decision(
            actor=agent,
            project=project,
            title=f"Cache totals {n}",
            decision="Order totals are cached in Redis.",
        )
        for n in range(15)
    ]
    embedded(*more)
    assert (count(by_record), count(by_text)) <= few
    assert few[0] <= 4
    assert Project.objects.count() == 1

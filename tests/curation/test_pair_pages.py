"""The compare page, and the queues of pairs in the inbox: lists, panes, verdicts, walls."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from curation.models import Sort, SuggestedPair, Verdict
from curation.pairs import queries
from decisions.actions import create_decision, edit_decision
from decisions.models import Decision
from pitfalls.actions import create_pitfall
from records.actor import Actor
from records.links import link
from records.models import Link, Relation, Revision
from records.verbs import archive

pytestmark = pytest.mark.django_db


@pytest.fixture
def decide(agent, project):
    def made(title="Use Redis", decision="Serve order totals from Redis.", **fields):
        return create_decision(actor=agent, project=project, title=title, decision=decision, **fields)

    return made


def suggest(one, other, sort=Sort.DUPLICATE, score=0.95, why=None):
    first, second = sorted((one.node_id, other.node_id))
    return SuggestedPair.objects.create(
        project_id=one.project_id, kind="decision", sort=sort, first=first, second=second, score=score,
        why=why or [{"code": "cosine", "value": score}],
    )  # fmt: skip


def compare_url(one, other, slug="shop"):
    return f"{reverse('pairs:compare', args=[slug])}?{urlencode({'a': one.node_id, 'b': other.node_id})}"


def inbox_url(queue, name="page", **query):
    return f"{reverse(f'inbox:{name}', args=['shop'])}?{urlencode({'queue': queue, **query})}"


def settle_url(queue="", **query):
    address = reverse("pairs:settle", args=["shop"])
    return f"{address}?{urlencode({'queue': queue, **query})}" if queue else address


def keys(page) -> list[str]:
    return [entry.key for entry, _url, _pane in page.context["entries"]]


def counts(page) -> dict[str, str]:
    return {str(chip["label"]): chip["count"] for chip in page.context["queues"]}


class TestThePage:
    def test_it_shows_what_differs_field_by_field(self, as_curator, decide):
        one = decide(decision="Serve order totals from Redis for 60 seconds.")
        other = decide(decision="Serve order totals from Redis for 90 seconds.", rationale="It is fast.")
        page = as_curator.get(compare_url(other, one))
        assert page.status_code == 200
        assert (page.context["older"], page.context["newer"]) == (one, other)
        text = page.content.decode()
        assert '<del><span class="visually-hidden">removed: </span>60</del>' in text
        assert '<ins><span class="visually-hidden">added: </span>90</ins>' in text
        differing = page.context["compared"].differing
        assert [field.label for field in differing] == ["Decision", "Rationale"]
        assert [field.label for field in page.context["compared"].same] == ["Title"]

    def test_texts_with_nothing_in_common_are_not_marked(self, as_curator, decide):
        page = as_curator.get(compare_url(decide(), decide(title="Zig", decision="Nobody may write C.")))
        assert {field.marked for field in page.context["compared"].differing} == {False}

    def test_two_kinds_stand_side_by_side_too(self, as_curator, decide, agent, project):
        pitfall = create_pitfall(
            actor=agent,
            project=project,
            title="Redis evicts",
            category="cache",
            description="When it is full.",
        )
        page = as_curator.get(compare_url(decide(), pitfall))
        assert "When it is full." in page.content.decode()
        assert page.context["merge_url"] == ""

    def test_hostile_text_stays_text(self, as_curator, decide):
        page = as_curator.get(
            compare_url(
                decide(decision="<script>alert(1)</script> & so on, every day"),
                decide(decision="<script>alert(2)</script> & so on, every day", title="<b>x</b>"),
            )
        )
        text = page.content.decode()
        assert "<script>alert" not in text
        assert "<b>x</b>" not in text

    @pytest.mark.parametrize(
        "query",
        [
            "a=dec_1",
            "a=dec_999&b=dec_998",
            "a=%00&b=x",
            "a=dec_1&b=dec_1",
            "a=&b=",
            "a=" + "9" * 300 + "&b=dec_1",
            "a=dec_99999999999&b=run_1",
        ],
    )
    def test_what_cannot_be_compared_is_said_beside_the_field(self, as_curator, project, query):
        page = as_curator.get(f"{reverse('pairs:compare', args=['shop'])}?{query}")
        assert page.status_code == 422
        assert page.context["form"].errors.keys() <= {"a", "b"}
        assert page.context["form"].errors

    def test_another_projects_record_is_not_there(self, as_curator, decide, other_project):
        theirs = create_decision(
            actor=Actor.command("test"), project=other_project, title="Secret", decision="Theirs."
        )
        page = as_curator.get(compare_url(decide(), theirs))
        assert page.status_code == 422
        assert "Theirs." not in page.content.decode()
        said = {"a": decide().node_id, "b": theirs.node_id, "verdict": "unrelated"}
        assert as_curator.post(settle_url(), said).status_code == 404

    def test_a_viewer_compares_and_decides_nothing(self, client, viewer_user, decide):
        client.force_login(viewer_user, backend="django.contrib.auth.backends.ModelBackend")
        one, other = decide(), decide(title="Redis again")
        page = client.get(compare_url(one, other))
        assert 'name="verdict"' not in page.content.decode()
        said = {"a": one.node_id, "b": other.node_id, "verdict": "unrelated"}
        assert client.post(settle_url(), said).status_code == 403

    def test_what_was_said_of_them_is_shown(self, as_curator, decide, agent):
        one, other = decide(), decide(title="Redis again")
        link(one, Relation.CONTRADICTS, other, actor=agent)
        row = suggest(
            one, other, Sort.CONFLICT, why=[{"code": "contradicts", "by": "order-bot"}, {"code": "?"}]
        )
        page = as_curator.get(compare_url(one, other))
        assert page.context["why"] == [("order-bot says that they contradict", True)]
        assert page.context["relations"] == [f"{one.node_id} contradicts {other.node_id}"]
        row.verdict = Verdict.CONTRADICTS
        row.save()
        assert as_curator.get(compare_url(one, other)).context["settled"].text == "contradicts"


class TestVerdicts:
    def test_each_button_says_its_verdict(self, as_curator, decide):
        for verdict, relation in (
            ("contradicts", Relation.CONTRADICTS),
            ("supersedes", Relation.SUPERSEDES),
            ("duplicates", Relation.DUPLICATE_OF),
        ):
            one, other = decide(), decide(title="Redis again")
            said = {"a": one.node_id, "b": other.node_id, "verdict": verdict, "reason": "Looked at."}
            answer = as_curator.post(settle_url(), said)
            assert (answer.status_code, answer.url) == (303, compare_url(one, other))
            assert Link.objects.filter(relation=relation, note="Looked at.").count() == 1

    def test_which_way_it_supersedes(self, as_curator, decide):
        one, other = decide(), decide(title="Redis again")
        as_curator.post(settle_url(), {"a": one.node_id, "b": other.node_id, "verdict": "superseded"})
        assert Link.objects.get().source == other.node_id
        assert Decision.objects.get(pk=one.pk).status == "superseded"

    def test_a_changed_record_is_looked_at_again(self, as_curator, decide, agent):
        one, other = decide(), decide(title="Redis again")
        edit_decision(actor=agent, decision=one, changes={"title": "Use Valkey"})
        said = {"a": one.node_id, "a_version": "1", "b": other.node_id, "verdict": "unrelated"}
        page = as_curator.post(settle_url(), said, follow=True)
        assert "Look at it as it is now." in page.content.decode()
        assert not SuggestedPair.objects.exists()
        assert not Revision.objects.filter(verb="settle").exists()

    @pytest.mark.parametrize(
        "more", [{"verdict": "nonsense"}, {"a_version": "x"}, {"reason": "x" * 3_000_000}]
    )
    def test_hostile_forms_change_nothing(self, as_curator, decide, more):
        one, other = decide(), decide(title="Redis again")
        said = {"a": one.node_id, "b": other.node_id, "verdict": "unrelated", **more}
        assert as_curator.post(settle_url(), said).status_code in (303, 413)
        assert not SuggestedPair.objects.exists()

    def test_in_the_inbox_the_next_pair_is_open_after_it(self, as_curator, decide):
        records = [decide(title=f"Redis {n}") for n in range(4)]
        first = suggest(records[0], records[1], Sort.CONFLICT, 0.97)
        second = suggest(records[2], records[3], Sort.CONFLICT, 0.96)
        key = f"{first.first}-{first.second}"
        said = {"a": first.first, "b": first.second, "verdict": "unrelated"}
        answer = as_curator.post(settle_url("conflicts", selected=key), said)
        assert answer.status_code == 303
        assert f"selected={second.first}-{second.second}" in answer.url
        page = as_curator.get(answer.url)
        assert keys(page) == [f"{second.first}-{second.second}"]
        assert counts(page)["Conflicts"] == "1"


class TestTheQueues:
    def test_conflicts_are_listed_best_first_with_why(self, as_curator, decide):
        records = [decide(title=f"Redis {n}") for n in range(4)]
        suggest(records[0], records[1], Sort.CONFLICT, 0.9)
        best = suggest(
            records[2], records[3], Sort.CONFLICT, 0.97,
            [{"code": "status", "first": "accepted", "second": "rejected"}, {"code": "cosine", "value": 0.97}],
        )  # fmt: skip
        page = as_curator.get(inbox_url("conflicts"))
        assert keys(page)[0] == f"{best.first}-{best.second}"
        entry = page.context["entries"][0][0]
        assert list(entry.whys) == [("one is accepted, one rejected", True), ("cosine 0.97", False)]
        assert page.context["pane"].template == "pairs/_pane.html"
        assert counts(page) == {"To review": "4", "Conflicts": "2", "Duplicates": "0", "Stale": "0"}

    def test_connected_pairs_are_one_cluster_that_stands_once(self, as_curator, decide):
        records = [decide(title=f"Redis {n}") for n in range(5)]
        suggest(records[0], records[1], score=0.95)
        best = suggest(records[1], records[2], score=0.98)
        alone = suggest(records[3], records[4], score=0.93)
        page = as_curator.get(inbox_url("duplicates"))
        assert keys(page) == [f"{best.first}-{best.second}", f"{alone.first}-{alone.second}"]
        assert page.context["entries"][0][0].whys[0] == ("3 records", True)
        assert page.context["pane"].template == "pairs/_cluster.html"
        assert len(page.context["members"]) == 2
        assert counts(page)["Duplicates"] == "3"

    def test_a_clusters_row_names_the_two_of_its_best_pair(self, as_curator, decide):
        records = [decide(title=f"Redis {n}") for n in range(4)]
        for at, score in ((0, 0.93), (1, 0.94), (2, 0.98)):
            suggest(records[at], records[at + 1], score=score)
        entry = as_curator.get(inbox_url("duplicates")).context["entries"][0][0]
        assert [entry.row.node_id, entry.other.node_id] == [records[2].node_id, records[3].node_id]

    def test_what_is_read_of_the_graph_of_pairs_is_bounded(self, decide, project, monkeypatch):
        monkeypatch.setattr(queries, "MOST_PAIRS", 20)
        hub = decide(title="Hub")
        best = suggest(hub, decide(title="Near"), score=0.99)
        for n in range(30):
            suggest(hub, decide(title=f"Redis {n}"), score=0.9)
        assert len(queries._around(project, [best])[0]) <= 20
        assert not queries.cluster_of(project, best.first, best.second).is_whole
        ((cluster,), _page) = queries.clusters_page(project, None)
        assert cluster.pair == best

    def test_a_cluster_stands_on_one_page_only(self, as_curator, decide, monkeypatch):
        monkeypatch.setattr("curation.pairs.queries.PAGE", 2)
        records = [decide(title=f"Redis {n}") for n in range(6)]
        for n in range(5):
            suggest(records[n], records[n + 1], score=round(0.99 - n / 100, 2))
        first = as_curator.get(inbox_url("duplicates"))
        second = as_curator.get(first.context["next_url"])
        third = as_curator.get(second.context["next_url"])
        assert [len(keys(page)) for page in (first, second, third)] == [1, 0, 0]

    def test_keeping_a_cluster_settles_all_that_was_suggested_of_it(self, as_curator, decide):
        records = [decide(title=f"Redis {n}") for n in range(3)]
        best = suggest(records[0], records[1], score=0.98)
        suggest(records[1], records[2], score=0.95)
        key = f"{best.first}-{best.second}"
        address = f"{reverse('pairs:keep_apart', args=['shop'])}?queue=duplicates&selected={key}"
        said = {"a": best.first, "b": best.second}
        assert as_curator.post(address, said).status_code == 303
        assert not SuggestedPair.objects.filter(is_open=True).exists()
        assert Revision.objects.filter(verb="settle").values("act").distinct().count() == 1
        assert as_curator.post(address, said).status_code == 303  # somebody was first
        assert Revision.objects.filter(verb="settle").count() == 4

    def test_an_end_that_was_just_hidden_is_not_shown(self, as_curator, decide, curator):
        one, other = decide(), decide(title="Redis again")
        pair = suggest(one, other)
        archive([one], actor=curator)
        SuggestedPair.objects.update(is_open=True)  # as the worker would see it a moment later
        page = as_curator.get(inbox_url("duplicates", selected=f"{pair.first}-{pair.second}"))
        assert (keys(page), page.context["pane"]) == ([], None)

    @pytest.mark.parametrize(
        "query",
        [
            {"cursor": "x"},
            {"sort": "newest"},
            {"kind": "decision"},
            {"selected": "x"},
            {"selected": "dec_1-dec_1"},
        ],
    )
    @pytest.mark.parametrize("queue", ["conflicts", "duplicates"])
    def test_hostile_addresses_are_explained(self, as_curator, project, queue, query):
        page = as_curator.get(inbox_url(queue, **query))
        assert page.status_code == (200 if "selected" in query else 422)

    @pytest.mark.parametrize("queue", ["conflicts", "duplicates"])
    def test_the_statements_do_not_grow_with_the_rows(self, as_curator, decide, queue):
        sort = Sort.CONFLICT if queue == "conflicts" else Sort.DUPLICATE

        def asked(count, start):
            records = [decide(title=f"Redis {start + n}") for n in range(2 * count)]
            for n in range(count):
                suggest(records[2 * n], records[2 * n + 1], sort, round(0.9 + n / 1000, 3))
            as_curator.get(inbox_url(queue))
            with CaptureQueriesContext(connection) as queries:
                page = as_curator.get(inbox_url(queue))
            assert len(keys(page)) == SuggestedPair.objects.count()
            return len(queries)

        few = asked(1, 0)
        assert asked(30, 2) == few <= 20

    def test_other_projects_pairs_are_behind_their_wall(self, as_curator, decide, other_project, project):
        theirs = [
            create_decision(actor=Actor.command("test"), project=other_project, title=f"B {n}", decision="D")
            for n in range(2)
        ]
        pair = suggest(*theirs)
        page = as_curator.get(inbox_url("duplicates", selected=f"{pair.first}-{pair.second}"))
        assert (keys(page), page.context["pane"]) == ([], None)

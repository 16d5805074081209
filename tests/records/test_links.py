"""Links between records, by page: said once, symmetrical ones once whichever way, no circles, no other project."""

import pytest

from decisions.models import Decision
from records.actor import Actor
from records.errors import InvalidInput, NotAllowed, Refused
from records.guard import writing
from records.links import link
from records.models import Link, ProjectionMark, Relation, Revision
from records.verbs import archive
from tests.records.samples import KINDS, make, page_of, verb_url

pytestmark = [pytest.mark.database, pytest.mark.django_db]
DIRECTED = ("SUPERSEDES", "DUPLICATE_OF")
SYMMETRICAL = ("CONTRADICTS", "RELATES_TO")
OPERATOR = Actor.command("test")


@pytest.fixture
def pair(agent, project):
    return make("decision", agent, project, "First"), make("pattern", agent, project, "Second")


@pytest.mark.parametrize("relation", Relation.values)
def test_linking_is_in_both_histories_on_both_pages_and_wanted_in_the_graph(as_curator, pair, relation):
    one, two = pair
    address = verb_url("link", one)
    assert as_curator.get(address, {"relation": relation, "target": two.node_id}).status_code == 200
    answer = as_curator.post(
        address, {"relation": relation, "target": f" {two.node_id} ", "reason": "as seen"}
    )
    assert (answer.status_code, answer["Location"]) == (303, page_of(one))
    kept = Link.objects.get()
    assert (kept.relation, kept.note, kept.source_name) == (relation, "as seen", "cleo")
    assert {kept.source, kept.target} == {one.node_id, two.node_id}
    for record in pair:
        event = Revision.objects.filter(node_id=record.node_id).first()
        assert (event.verb, event.version, event.reason, event.channel) == ("link", None, "as seen", "web")
        assert ProjectionMark.objects.get(node_id=record.node_id).wanted_version == 2
        assert type(record).objects.get(pk=record.pk).version == 1
        page = as_curator.get(page_of(record)).content.decode()
        other = two if record is one else one
        assert other.heading in page
        assert "as seen" in page


@pytest.mark.parametrize("relation", Relation.values)
def test_saying_it_again_changes_nothing(as_curator, pair, relation):
    one, two = pair
    for _ in range(2):
        assert (
            as_curator.post(verb_url("link", one), {"relation": relation, "target": two.node_id}).status_code
            == 303
        )
    assert Link.objects.count() == 1
    assert Revision.objects.filter(verb="link").count() == 2
    answer = as_curator.post(verb_url("link", two), {"relation": relation, "target": one.node_id})
    if relation in SYMMETRICAL:
        assert answer.status_code == 303
    else:
        assert answer.status_code == 422, "A supersedes B and B supersedes A cannot both be so"
    assert Link.objects.count() == 1


@pytest.mark.parametrize("relation", DIRECTED)
def test_no_circle_through_others(agent, project, relation):
    one, two, three = (make("decision", agent, project, str(n)) for n in range(3))
    link(one, relation, two, actor=agent)
    link(two, relation, three, actor=agent)
    with pytest.raises(Refused, match=r"dec_"):
        link(three, relation, one, actor=agent)
    other = next(name for name in DIRECTED if name != relation)
    link(three, other, one, actor=agent)
    link(one, relation, three, actor=agent)
    assert Link.objects.count() == 4


def test_decisions_do_not_supersede_in_a_circle(as_curator, agent, project):
    one, two, three = (make("decision", agent, project, str(n)) for n in range(3))
    for old, new in ((one, two), (two, three)):
        assert as_curator.post(f"{page_of(old)}supersede/", {"by": new.node_id}).status_code == 303
    answer = as_curator.post(f"{page_of(three)}supersede/", {"by": one.node_id, "reason": "typed"})
    assert answer.status_code == 422
    assert "typed" in answer.content.decode()
    three.refresh_from_db()
    assert three.status == "accepted"
    assert as_curator.post(f"{page_of(one)}supersede/", {"by": two.node_id}).status_code == 303, (
        "again: a no-op"
    )
    assert Link.objects.count() == 2


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_can_be_linked(as_curator, agent, project, kind):
    record, other = make(kind, agent, project, "One"), make("decision", agent, project, "Other")
    data = {"relation": "RELATES_TO", "target": other.node_id}
    assert as_curator.post(verb_url("link", record), data).status_code == 303
    assert other.node_id in as_curator.get(page_of(record)).content.decode()


@pytest.mark.parametrize(
    "data",
    [
        {}, {"relation": "RELATES_TO"}, {"target": "dec_1"}, {"relation": "LEADS_TO", "target": "dec_1"},
        {"relation": "RELATES_TO", "target": "dec_99999"}, {"relation": "RELATES_TO", "target": "dec_99999999999"},
        {"relation": "RELATES_TO", "target": "nonsense"}, {"relation": "RELATES_TO", "target": "dec_1\x00"},
        {"relation": "RELATES_TO", "target": "dec_٣"}, {"relation": "RELATES_TO", "target": "<script>"},
        {"relation": "RELATES_TO", "target": "x" * 41}, {"relation": "relates_to", "target": "dec_1"},
        {"relation": "RELATES_TO", "target": "run_" + "0" * 32}, {"relation": "RELATES_TO", "target": "dec_01"},
    ],
)  # fmt: skip
def test_what_cannot_be_linked_is_explained(as_curator, pair, data):
    answer = as_curator.post(verb_url("link", pair[0]), {**data, "reason": "typed reason"})
    assert answer.status_code == 422
    assert "errorlist" in answer.content.decode()
    assert "typed reason" in answer.content.decode()
    assert not Link.objects.exists()


@pytest.mark.parametrize("reason", ["a\x00b", "x" * (1024 * 1024 + 1)])
def test_a_reason_that_no_database_keeps_links_nothing(as_curator, pair, reason):
    one, two = pair
    data = {"relation": "RELATES_TO", "target": two.node_id, "reason": reason}
    assert as_curator.post(verb_url("link", one), data).status_code == 422
    link(one, "RELATES_TO", two, actor=OPERATOR)
    kept = Link.objects.get()
    answer = as_curator.post(verb_url("unlink", one, kept.pk), {"reason": reason})
    assert answer.status_code == 303
    assert Link.objects.count() == 1, "and takes nothing back"


def test_not_to_itself_and_not_across_the_wall(as_curator, agent, project, other_project, stranger):
    one, theirs = (
        make("decision", agent, project),
        make("decision", stranger, other_project, "Secret of the bank"),
    )
    answer = as_curator.post(verb_url("link", one), {"relation": "RELATES_TO", "target": one.node_id})
    assert answer.status_code == 422
    answer = as_curator.post(verb_url("link", one), {"relation": "RELATES_TO", "target": theirs.node_id})
    assert answer.status_code == 422
    assert "Secret" not in answer.content.decode()
    with pytest.raises(Refused):
        link(one, "RELATES_TO", theirs, actor=OPERATOR)
    with pytest.raises(NotAllowed):
        link(theirs, "RELATES_TO", make("decision", stranger, other_project), actor=agent)
    with pytest.raises(InvalidInput):
        link(one, "LEADS_TO", make("decision", agent, project), actor=agent)


def test_unlinking_is_in_both_histories(as_curator, pair, curator):
    one, two = pair
    made = link(one, "CONTRADICTS", two, actor=curator)
    assert as_curator.get(verb_url("unlink", one, made.pk)).status_code == 405
    answer = as_curator.post(verb_url("unlink", two, made.pk), {"reason": "solved"})
    assert (answer.status_code, answer["Location"]) == (303, page_of(two))
    assert not Link.objects.exists()
    for record in pair:
        event = Revision.objects.filter(node_id=record.node_id).first()
        assert (event.verb, event.reason) == ("unlink", "solved")
        beside = event.detail.pop("beside")  # what is needed to give it back
        assert (beside["note"], beside["source_name"]) == (made.note, made.source_name)
        assert event.detail == {"relation": "CONTRADICTS", "source": made.source, "target": made.target}
        assert ProjectionMark.objects.get(node_id=record.node_id).wanted_version == 3
    assert as_curator.post(verb_url("unlink", two, made.pk)).status_code == 404


def test_a_link_is_taken_back_only_through_its_ends(
    as_curator, client, viewer_user, pair, curator, agent, project
):
    one, two = pair
    third = make("decision", agent, project, "Third")
    made = link(one, "RELATES_TO", two, actor=curator)
    assert as_curator.post(verb_url("unlink", third, made.pk)).status_code == 404
    assert as_curator.post(verb_url("unlink", one, 10**25)).status_code == 404
    client.force_login(viewer_user)
    assert client.post(verb_url("unlink", one, made.pk)).status_code == 403
    assert Link.objects.count() == 1


def test_another_projects_link_is_not_reachable(as_curator, agent, project, stranger, other_project):
    theirs = [make("decision", stranger, other_project, str(n)) for n in range(2)]
    made = link(theirs[0], "RELATES_TO", theirs[1], actor=stranger)
    own = make("decision", agent, project)
    for record in (own, theirs[0]):
        assert as_curator.post(verb_url("unlink", record, made.pk)).status_code == 404
    assert Link.objects.count() == 1


def test_only_an_active_contradiction_is_a_warning(as_curator, pair, curator):
    one, two = pair
    link(one, "CONTRADICTS", two, actor=curator)
    assert "notice-warn" in as_curator.get(page_of(one)).content.decode()
    archive([two], actor=curator)
    page = as_curator.get(page_of(one)).content.decode()
    assert "notice-warn" not in page
    assert "Second" not in page
    assert "1 hidden" in page
    behind = as_curator.get(page_of(one), {"links": "all"}).content.decode()
    assert "Second" in behind, "the link itself is still there"
    assert "notice-warn" not in behind


def test_a_record_whose_linked_one_was_deleted_by_sql_is_shown(as_curator, agent, project):
    one, two = (make("decision", agent, project, title) for title in ("First", "Second"))
    link(one, "RELATES_TO", two, actor=agent)
    with writing():
        Decision.objects.filter(pk=two.pk).delete()
    page = as_curator.get(page_of(one))
    assert page.status_code == 200
    assert "Not linked to anything yet." in page.content.decode()

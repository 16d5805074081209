"""The merge page: choosing, the preview, what it refuses, old addresses afterwards."""

import pytest
from django.urls import reverse

from decisions.actions import create_decision, edit_decision, record_outcome
from decisions.models import Decision
from records.merging import merge
from runs.actions import record_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(agent, project):
    return [
        create_decision(
            actor=agent, project=project, title=title, decision=f"{title} for the totals.", tags=[f"t{n}"]
        )
        for n, title in enumerate(["Use Redis", "We use Redis", "Redis it is"])
    ]


@pytest.fixture
def web(client, curator_user):
    client.force_login(curator_user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def address(project, *pairs) -> str:
    from urllib.parse import urlencode

    return f"{reverse('merging:page', args=[project.slug])}?{urlencode(pairs)}"


def of_three(project, three) -> str:
    one, two, last = (record.node_id for record in three)
    return address(project, ("into", one), ("from", two), ("from", last))


def versions(records) -> dict:
    return {f"version-{record.node_id}": record.version for record in records}


def test_the_preview_shows_each_wording_with_a_word_diff(web, project, three):
    record_outcome(actor=_actor(web), decision=three[1], type="outage")
    page = web.get(of_three(project, three)).content.decode()
    for record in three:
        assert f'name="field-title" value="{record.node_id}"' in page
    assert "<ins>" in page
    assert "t0, t1, t2" in page
    assert "outcomes" in page


def _actor(web):
    from projects.models import User
    from tests.conftest import person

    return person(User.objects.get(username="cleo"))


def test_it_merges_says_so_and_offers_undo(web, project, three):
    one, two, last = three
    answer = web.post(
        of_three(project, three),
        {**versions(three), "field-title": last.node_id, "reason": "one fact"},
        follow=True,
    )
    page = answer.content.decode()
    assert "Merged 2 records into" in page
    assert "/undo/" in page
    assert Decision.objects.get(pk=one.pk).title == "Redis it is"
    assert Decision.objects.get(pk=two.pk).merged_into == one.node_id
    web.post(page.split('action="')[1:] and _undo_in(page))
    assert Decision.objects.get(pk=two.pk).merged_into is None
    assert Decision.objects.get(pk=one.pk).title == "Use Redis"


def _undo_in(page: str) -> str:
    return next(
        part.partition('"')[0] for part in page.split('action="') if "/undo/" in part.partition('"')[0]
    )


def test_an_old_address_leads_to_the_survivor_and_says_so(web, project, three, curator):
    one, two, last = three
    merge(two, [last], actor=curator)
    merge(one, [two], actor=curator)
    for old in (two, last):
        answer = web.get(f"/p/{project.slug}/decisions/{old.pk}/")
        assert answer.status_code == 302
        page = web.get(answer.url).content.decode()
        assert answer.url.startswith(f"/p/{project.slug}/decisions/{one.pk}/")
        assert f"{old.node_id} was merged into this one" in page
        itself = web.get(f"/p/{project.slug}/decisions/{old.pk}/?itself=1")
        assert itself.status_code == 200
        assert old.title in itself.content.decode()
    follow = web.get(f"/r/{last.node_id}/", follow=True)
    assert follow.redirect_chain[-1][0].startswith(f"/p/{project.slug}/decisions/{one.pk}/")


def test_what_did_not_come_from_there_is_not_said(web, project, three):
    for named in (three[1].node_id, "dec_999", "x" * 3000, "pat_1"):
        page = web.get(f"/p/{project.slug}/decisions/{three[0].pk}/", {"merged": named})
        assert page.status_code == 200
        assert "was merged into this one" not in page.content.decode()


def test_a_merged_record_is_led_to_its_survivor_here_too(web, project, three, curator):
    merge(three[0], [three[1]], actor=curator)
    page = web.get(address(project, ("into", three[1].node_id), ("from", three[2].node_id))).content.decode()
    assert f"Merge into {three[0].node_id}" in page


def test_without_a_survivor_the_approved_one_stays(web, project, three, curator):
    from records.verbs import review

    review([three[2]], "approved", actor=curator)
    pairs = [("from", record.node_id) for record in three]
    assert f"Merge into {three[2].node_id}" in web.get(address(project, *pairs)).content.decode()


def test_ids_may_be_typed_in_one_line(web, project, three):
    line = f" {three[1].node_id}, {three[2].node_id} "
    page = web.get(address(project, ("into", three[0].node_id), ("from", line))).content.decode()
    assert f"Merge 2 into {three[0].node_id}" in page


def test_somebody_saved_meanwhile(web, project, three, curator):
    form = {**versions(three), "field-title": three[1].node_id}
    edit_decision(actor=curator, decision=three[1], changes={"title": "Newer words"})
    answer = web.post(of_three(project, three), form)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "was changed while you were choosing" in page
    assert "Newer" in page
    assert f'value="{three[1].node_id}" checked' in page
    assert Decision.objects.filter(merged_into=None).count() == 3


def test_what_makes_no_sense_is_said(web, project, three, agent, other_project):
    run = record_run(actor=agent, project=project, agent_name="a")
    assert web.get(address(project, ("into", "dec_999"))).status_code == 404
    page = web.get(address(project, ("into", three[0].node_id), ("from", "dec_999")))
    assert "There is no record dec_999" in page.content.decode()
    mixed = web.get(address(project, ("into", three[0].node_id), ("from", run.node_id)))
    assert mixed.status_code == 422
    answer = web.post(of_three(project, three), {**versions(three), "field-title": "dec_999"})
    assert answer.status_code == 422
    assert "Must be one of" in answer.content.decode()
    answer = web.post(of_three(project, three), {f"version-{three[0].node_id}": "x"})
    assert answer.status_code == 409
    assert Decision.objects.filter(merged_into=None).count() == 3


def test_none_that_was_named_is_dropped_without_a_word(web, project, three, agent, curator):
    one, two, last = (record.node_id for record in three)
    more = [create_decision(actor=agent, project=project, title=f"M{n}", decision=f"M{n}") for n in range(49)]
    gone = [f"dec_{90000 + n}" for n in range(30)]
    pairs = [("from", node_id) for node_id in [*gone, *(record.node_id for record in more), two]]
    page = web.get(address(project, ("into", one), *pairs))
    assert all(f"There is no record {node_id} " in page.content.decode() for node_id in gone)
    assert f"Merge 50 into {one}" in page.content.decode()
    refused = web.get(address(project, ("into", one), *pairs, ("from", last)))
    assert (refused.status_code, "At most 50 records" in refused.content.decode()) == (422, True)
    merge(three[1], [three[2]], actor=curator)
    page = web.get(address(project, ("into", one), ("from", f"{two} {last}"))).content.decode()
    assert f"{last} leads to {two}, which is named already." in page
    many = " ".join(f"dec_{70000 + n}" for n in range(300))
    assert (
        "only the first 200 are looked at"
        in web.get(address(project, ("into", one), ("from", many))).content.decode()
    )


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "\x00", "é" * 500, "dec_" + "9" * 400])
def test_hostile_ids_are_no_error_of_ours(web, project, three, hostile):
    page = web.get(address(project, ("into", three[0].node_id), ("from", hostile)))
    assert page.status_code in (200, 422)
    assert "<script>alert" not in page.content.decode()


def test_the_page_alone_says_what_to_do(web, project):
    assert "Which records?" in web.get(address(project)).content.decode()


def test_a_record_page_leads_here(web, project, three, agent):
    link = f"{reverse('merging:page', args=[project.slug])}?into={three[0].node_id}"
    assert link in web.get(f"/p/{project.slug}/decisions/{three[0].pk}/").content.decode()
    run = record_run(actor=agent, project=project, agent_name="a")
    assert "/merge/" not in web.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()


def test_the_number_of_statements_does_not_grow_with_the_set(
    web, project, three, agent, django_assert_max_num_queries
):
    more = [create_decision(actor=agent, project=project, title=f"M{n}", decision=f"M{n}") for n in range(20)]
    pairs = [("into", three[0].node_id), *(("from", record.node_id) for record in [*three[1:], *more])]
    with django_assert_max_num_queries(20):
        web.get(address(project, *pairs))


def test_it_goes_on_where_it_was_asked_from_and_to_no_other_host(web, project, three):
    inbox = f"/p/{project.slug}/inbox/?queue=review"
    page = web.get(f"{of_three(project, three)}&next={inbox}").content.decode()
    assert f'name="next" value="{inbox}"' in page
    assert (
        "evil.example"
        not in web.get(f"{of_three(project, three)}&next=//evil.example/")
        .content.decode()
        .split("<main")[1]
        .split("csrf")[0]
    )
    answer = web.post(of_three(project, three), {**versions(three), "next": inbox})
    assert (answer.status_code, answer.url) == (303, inbox)


def test_the_inbox_leads_here(web, project, three):
    page = web.get(f"/p/{project.slug}/inbox/").content.decode()
    assert f"{reverse('merging:page', args=[project.slug])}?into=" in page

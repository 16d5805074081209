"""The buttons of undo and of an old version: what they do, say and refuse."""

import pytest
from django.contrib.messages import get_messages
from django.urls import reverse

from decisions.actions import create_decision, edit_decision
from decisions.models import Decision
from records.models import Revision

pytestmark = pytest.mark.django_db


@pytest.fixture
def decision(agent, project):
    return create_decision(actor=agent, project=project, title="Use Redis", decision="Cache totals.")


@pytest.fixture
def web(client, curator_user):
    client.force_login(curator_user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def undo_address(record, project):
    act = Revision.objects.filter(node_id=record.node_id).order_by("-id").first().act
    return reverse("records:undo", args=[project.slug, act])


def test_what_a_verb_says_offers_to_undo_it(web, decision, project):
    page = web.post(
        reverse("records:review", args=[project.slug, decision.node_id]), {"state": "approved"}, follow=True
    )
    address = undo_address(decision, project)
    assert f'action="{address}"' in page.content.decode()
    answer = web.post(address, {"next": f"/p/{project.slug}/decisions/{decision.pk}/"})
    assert (answer.status_code, answer.url) == (303, f"/p/{project.slug}/decisions/{decision.pk}/")
    assert Decision.objects.get().review_state == "unreviewed"
    page = web.get(answer.url).content.decode()
    assert "Undone: approved dec_" in page
    assert undo_address(decision, project) in page  # which can be undone again


def test_what_changed_nothing_offers_no_undo(web, decision, project):
    address = reverse("records:review", args=[project.slug, decision.node_id])
    web.post(address, {"state": "approved"}, follow=True)
    page = web.post(address, {"state": "approved"}, follow=True).content.decode()
    assert "/undo/" not in page


def test_what_cannot_go_back_says_why(web, decision, project, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
    address = undo_address(decision, project)
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Dragonfly"})
    answer = web.post(address)
    said = [str(message) for message in get_messages(answer.wsgi_request)]
    assert answer.status_code == 303
    assert len(said) == 1
    assert said[0].startswith(f"{decision.node_id}: ")
    assert "title" in said[0]
    assert "__all__" not in said[0]
    assert Decision.objects.get().title == "Use Dragonfly"


@pytest.mark.parametrize("act", ["0" * 32, "nothing", "%F0%9F%98%80"])
def test_an_act_that_never_was_is_absent(web, project, act):
    assert web.post(f"/p/{project.slug}/acts/{act}/undo/").status_code == 404


def test_another_projects_act_is_absent(web, decision, other_project, admin_user, curator_user):
    from projects.models import Membership

    Membership.objects.create(user=curator_user, project=other_project, role="curator")
    assert web.post(undo_address(decision, other_project)).status_code == 404


def test_it_leads_to_no_other_host(web, decision, project, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
    answer = web.post(
        undo_address(decision, project), {"next": "https://evil.example/"},
        headers={"HX-Current-URL": "https://evil.example/x"},
    )  # fmt: skip
    assert answer.url == f"/p/{project.slug}/decisions/{decision.pk}/"


def test_an_old_version_comes_back_by_its_button(web, decision, project, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
    address = reverse("records:restore_version", args=[project.slug, decision.node_id, 1])
    page = web.post(address, {"version": 2}, follow=True).content.decode()
    assert Decision.objects.get().title == "Use Redis"
    assert "says again what version 1 said" in page
    assert "brought an old version back: 1" in page
    assert "says that already" in web.post(address, follow=True).content.decode()


def test_an_old_version_over_a_newer_save_does_nothing(web, decision, project, curator):
    edit_decision(actor=curator, decision=decision, changes={"title": "Use Valkey"})
    address = reverse("records:restore_version", args=[project.slug, decision.node_id, 1])
    web.post(address, {"version": 1})
    assert Decision.objects.get().title == "Use Valkey"


@pytest.mark.parametrize("version", ["0", "77", "9" * 40])
def test_a_version_that_never_was_is_said(web, decision, project, version):
    answer = web.post(f"/p/{project.slug}/records/{decision.node_id}/versions/{version}/restore/")
    assert answer.status_code == 303
    assert get_messages(answer.wsgi_request)

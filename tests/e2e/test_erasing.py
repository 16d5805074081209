"""Erasing by keyboard, also without scripts; the tombstone looked at by axe, in both themes and narrow."""

import pytest

from decisions.actions import create_decision, record_outcome
from decisions.models import Decision
from records.models import Erasure
from tests.e2e.test_every_page import Look
from tests.records.samples import page_of, verb_url

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def decision(agent, project):
    made = create_decision(actor=agent, project=project, title="Call Frau Lüdenscheidt", decision="At home.")
    record_outcome(actor=agent, decision=made, type="success", note="She was in.")
    return made


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_record_is_erased_with_its_outcome_by_keyboard(scripts, visit, admin_user, decision):
    page = visit(page_of(decision), admin_user, java_script_enabled=scripts)
    visit.forgive("status of 410")
    page.get_by_role("link", name="Erase for good…").press("Enter")
    page.get_by_label("out_").press("Space")
    page.get_by_label("Why").fill("She asked us to.")
    page.get_by_label("Type the record's id").fill("dec_0")
    page.get_by_label("Type the record's id").press("Enter")
    page.get_by_text("This is not the record's id").wait_for()
    assert page.get_by_label("Why").input_value() == "She asked us to."
    page.get_by_label("Type the record's id").fill(decision.node_id)
    page.get_by_label("Type the record's id").press("Enter")
    page.get_by_role("heading", name="Erased for good").wait_for()
    assert page.get_by_text("She asked us to.").count()
    assert Decision.objects.get().title == "[erased]"
    assert Erasure.objects.count() == 2
    visit.forgive("status of 410", "status of 422")


def test_the_pages_are_accessible_and_fit(visit, admin_user, decision):
    page = visit("/password/", admin_user)
    look = Look(page)
    look.open("erase", verb_url("erase", decision))
    page.get_by_label("Why").fill("She asked us to.")
    page.get_by_label("Type the record's id").fill(decision.node_id)
    page.get_by_label("Type the record's id").press("Enter")
    page.get_by_role("heading", name="Erased for good").wait_for()
    look.at("erased")
    assert look.wrong == {}
    visit.forgive("status of 410")

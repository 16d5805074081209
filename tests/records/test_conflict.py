"""Somebody saved first: both versions side by side, nothing typed is lost, and saving again takes."""

import re
from datetime import UTC, datetime
from html import unescape

import pytest

from decisions.actions import change_status, edit_decision, edit_outcome
from decisions.models import Decision, Outcome
from patterns.actions import adjust_confidence
from records.verbs import archive, review
from tests.records.samples import make, page_of, verb_url, write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def fields_of(page):
    """What the conflict page's own form would post."""
    form = page[page.index('id="record-form"') :]
    form = form[: form.index("</form>")]
    data = {}
    for tag in re.findall(r"<input[^>]*>", form):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        if name:
            data[name[1]] = unescape(value[1]) if value else ""
    for name, text in re.findall(r'<textarea name="([^"]*)"[^>]*>\r?\n?(.*?)</textarea>', form, re.DOTALL):
        data[name] = unescape(text)
    for name, options in re.findall(r'<select name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        data[name] = chosen[1] if chosen else ""
    data.pop("csrfmiddlewaretoken", None)
    return data


def test_everything_typed_survives_and_saving_again_takes(as_curator, agent, curator, project):
    decision = make("decision", agent, project, tags=["a,b", "c"], rationale="Line one\n\n<b>line</b> two")
    edit_decision(actor=curator, decision=decision, changes={"title": "Theirs"})
    mine = {
        "title": "Mine & <i>yours</i>", "decision": "New\r\ntext", "rationale": "Line one\r\n\r\n<b>line</b> two", "status": "pending",
        "alternatives_considered": "", "decided_on": "2026-03-15", "tags": '"a,b", c', "reason": 'said "so"', "version": "1",
    }  # fmt: skip
    answer = as_curator.post(f"{page_of(decision)}edit/", mine)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "<i>yours</i>" not in page
    assert "cleo changed" in page
    again = fields_of(page)
    assert {name: text.replace("\r\n", "\n") for name, text in again.items()} == {
        **{name: text.replace("\r\n", "\n") for name, text in mine.items()}, "version": "2",
    }  # fmt: skip
    assert as_curator.post(f"{page_of(decision)}edit/", again).status_code == 303
    kept = Decision.objects.get(pk=decision.pk)
    assert (kept.title, kept.decision, kept.tags, kept.version) == (
        "Mine & <i>yours</i>",
        "New\ntext",
        ["a,b", "c"],
        3,
    )


def test_a_conflict_with_plain_sql_is_one_too(as_curator, agent, project):
    decision = make("decision", agent, project)
    write_as_sql(decision, title="By SQL")
    data = {"title": "Mine", "decision": "D", "status": "accepted", "version": "1"}
    answer = as_curator.post(f"{page_of(decision)}edit/", data)
    assert answer.status_code == 409
    for text in ("By SQL", "Mine", "sql changed"):
        assert text in answer.content.decode(), text


def test_a_third_save_in_between_conflicts_again(as_curator, agent, curator, project):
    decision = make("decision", agent, project)
    edit_decision(actor=curator, decision=decision, changes={"title": "Second"})
    data = {"title": "Mine", "decision": "Serve totals from Redis.", "status": "accepted", "version": "1"}
    again = fields_of(as_curator.post(f"{page_of(decision)}edit/", data).content.decode())
    edit_decision(actor=curator, decision=decision, changes={"title": "Third"})
    answer = as_curator.post(f"{page_of(decision)}edit/", again)
    assert answer.status_code == 409
    assert "Third" in answer.content.decode()
    assert Decision.objects.get().title == "Third"


def test_the_time_of_an_outcome_is_no_difference_where_nobody_changed_it(
    client, curator_user, agent, curator, project
):
    curator_user.time_zone = "Asia/Kolkata"
    curator_user.save()
    client.force_login(curator_user)
    outcome = make(
        "outcome", agent, project, occurred_at=datetime(2026, 6, 3, 10, 0, 17, tzinfo=UTC), success_rate=0.5
    )
    edit_outcome(actor=curator, outcome=outcome, changes={"note": "Theirs"})
    data = {
        "type": "success",
        "success_rate": "0.5",
        "note": "Mine",
        "occurred_at": "2026-06-03T15:30",
        "version": "1",
    }
    answer = client.post(f"{page_of(outcome)}edit/", data)
    assert answer.status_code == 409
    rows = {row.name: row.same for row in answer.context["conflict"].rows}
    assert rows == {"type": True, "success_rate": True, "note": False, "occurred_at": True, "tags": True}
    assert client.post(f"{page_of(outcome)}edit/", fields_of(answer.content.decode())).status_code == 303
    kept = Outcome.objects.get()
    assert (kept.note, kept.occurred_at) == ("Mine", outcome.occurred_at)


def test_verbs_that_ask_why_show_what_is_now(as_curator, agent, curator, project):
    decision, pattern = make("decision", agent, project), make("pattern", agent, project)
    change_status(actor=curator, decisions=[decision], status="deprecated", reason="x")
    adjust_confidence(actor=curator, pattern=pattern, confidence=0.75, reason="x")
    review([make("pitfall", agent, project)], "approved", actor=curator)
    for address, data, theirs in (
        (f"{page_of(decision)}status/", {"status": "pending"}, "deprecated"),
        (f"{page_of(pattern)}confidence/", {"confidence": "0.25"}, "0.75"),
        (verb_url("review", decision), {"state": "rejected"}, "unreviewed"),
    ):
        answer = as_curator.post(address, {**data, "reason": "typed why", "version": "1"})
        assert answer.status_code == 409
        rows = {row.name: row for row in answer.context["conflict"].rows}
        assert rows[next(iter(data))].theirs == theirs
        again = fields_of(answer.content.decode())
        assert again["reason"] == "typed why"
        assert again["version"] == str(answer.context["conflict"].current_version)
        assert as_curator.post(address, again).status_code == 303


def test_a_page_drawn_before_it_was_archived_conflicts(as_curator, agent, curator, project):
    decision = make("decision", agent, project)
    archive([decision], actor=curator)
    for verb in ("archive", "review"):
        answer = as_curator.post(verb_url(verb, decision), {"state": "approved", "version": "1"})
        assert answer.status_code == 409

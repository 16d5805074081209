"""A part only: an exact string gone from every record of a project, and the commands that find and prove."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from decisions.actions import create_decision
from decisions.models import Decision
from patterns.actions import record_evidence
from projects.models import Project
from recall.models import SearchText
from recall.words import keep_words
from records.erasing import erase
from records.erasing_values import erase_value, erase_values
from records.errors import InvalidInput, NotAllowed
from records.everywhere import places_of
from records.links import link
from records.models import IdempotencyKey, ProjectionMark, RecordFinding, Revision
from records.sweep import sweep
from records.verbs import review
from runs.actions import record_run, set_cache
from runs.models import PayloadValue, Run
from tests.conftest import make_token
from tests.records.samples import make, write_as_sql
from work_sessions.actions import start_session

pytestmark = [pytest.mark.database, pytest.mark.django_db]
VALUE = 'Frau "Müller-Lüdenscheidt"\nBad 3'
WHY = "A person asked us to."
KEY = "ghp_" + "aB3dE5gH7jK9" * 3


def left(text: str = VALUE) -> list[str]:
    return [str(place) for place in places_of([text])]


def test_the_value_goes_from_everywhere_and_all_else_stays(agent, curator, admin, project):
    token, _text = make_token(project)
    decision = create_decision(
        actor=agent, project=project, title="Call her", decision=f"Ask {VALUE} first.", tags=["phone"]
    )
    pattern = make("pattern", agent, project)
    record_evidence(actor=agent, pattern=pattern, worked=True, note=f"Said {VALUE}.")
    link(decision, "RELATES_TO", pattern, actor=curator, reason=f"See {VALUE}")
    review([decision], "rejected", actor=curator, reason=f"Not {VALUE}")
    run = record_run(
        actor=agent,
        project=project,
        agent_name="bot",
        trigger_payload={"who": VALUE, VALUE: 1},
        tool_calls=[VALUE],
    )
    set_cache(actor=agent, project=project, key=f"k {VALUE}"[:200], value=[{"who": VALUE}])
    IdempotencyKey.objects.create(
        token=token,
        key_digest="d",
        request_digest="r",
        status=201,
        answer=json.dumps({"title": VALUE}),
        headers={},
    )
    keep_words([decision])
    assert len(left()) > 10
    done = erase_value(VALUE, project, actor=admin, reason=WHY)
    assert left() == []
    assert done.node_ids == [decision.node_id, run.node_id]
    kept = Decision.objects.get()
    assert (kept.decision, kept.tags, kept.version) == ("Ask [erased] first.", ["phone"], 3)
    assert Run.objects.get().trigger_payload == {"who": "[erased]", "[erased]": 1}
    assert {row.value for row in PayloadValue.objects.all()} == {"[erased]", "1"}
    first = Revision.objects.get(node_id=decision.node_id, version=1)
    assert first.after["decision"] == "Ask [erased] first."
    newest = Revision.objects.filter(node_id=decision.node_id).first()
    assert (newest.verb, newest.reason, newest.version) == ("erase_value", WHY, 3)
    assert json.loads(IdempotencyKey.objects.get().answer) == {"title": "[erased]"}
    assert not SearchText.objects.filter(node_id=decision.node_id).exists()  # the worker makes it anew
    assert ProjectionMark.objects.get(node_id=decision.node_id).next_try_at is not None
    assert Revision.objects.filter(verb="erase_value").values("act").distinct().count() == 1
    assert sweep() == 0


def test_other_projects_keep_theirs(agent, admin, project, other_project):
    create_decision(actor=agent, project=project, title="T", decision=VALUE)
    _token, _text = make_token(other_project, name="elsewhere")
    other = Decision.objects.get()
    write_as_sql(other, project=other_project)
    sweep()
    erase_value(VALUE, project, actor=admin, reason=WHY)
    assert Decision.objects.get().decision == VALUE


def test_names_that_differ_in_it_alone_stay_apart(agent, admin, project):
    start_session(actor=agent, project=project, session_id="of Mallory")
    start_session(actor=agent, project=project, session_id="of [erased]")
    set_cache(actor=agent, project=project, key="Mallory", value=1)
    set_cache(actor=agent, project=project, key="[erased]", value=2)
    erase_value("Mallory", project, actor=admin, reason=WHY)
    assert left("Mallory") == []


@pytest.mark.parametrize(
    ("text", "reason", "said"),
    [
        ("abc", WHY, "at least"),
        ("   a   ", WHY, "at least"),
        (VALUE, "", "why"),
        (VALUE, f"Because {VALUE}", "quotes"),
    ],
)
def test_too_short_a_value_or_a_bad_reason_is_refused(text, reason, said, admin, project):
    with pytest.raises(InvalidInput, match=said):
        erase_value(text, project, actor=admin, reason=reason)


def test_a_curator_may_not(agent, curator, project):
    create_decision(actor=agent, project=project, title="T", decision=VALUE)
    with pytest.raises(NotAllowed):
        erase_value(VALUE, project, actor=curator, reason=WHY)
    assert left()


def test_of_two_values_the_longer_one_goes_first(agent, admin, project):
    create_decision(actor=agent, project=project, title="T", decision="Hildegard and Hilde")
    erase_values({"Hilde": "[1]", "Hildegard": "[2]"}, project, actor=admin, reason=WHY)
    assert Decision.objects.get().decision == "[2] and [1]"


# --- manage.py prove_erased ----------------------------------------------------------------------------------------
def proved(*args, **options) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("prove_erased", *args, stdout=out, **options)
    except SystemExit as end:
        return end.code, out.getvalue()
    return 0, out.getvalue()


def work_off():
    ProjectionMark.objects.update(next_try_at=None)  # what the worker does is tested with it


def test_the_command_says_where_a_record_is_and_that_nothing_is_left(agent, curator, admin, project):
    record = create_decision(actor=agent, project=project, title="T", decision=VALUE, tags=["x"])
    review([record], "rejected", actor=curator, reason="A guess.")
    work_off()
    code, said = proved(record.node_id)
    assert code == 1
    for place in ("architecture_decisions.decision", "revisions.after", "revisions.reason", "record_tags"):
        assert place in said
    assert VALUE not in said
    erase([record], actor=admin, reason=WHY)
    code, said = proved(record.node_id)
    assert (code, "waits for the worker" in said) == (1, True)
    work_off()
    assert proved(record.node_id) == (0, "Nothing is left.\n")


def test_the_command_searches_for_a_text_in_every_table_index_and_file(agent, admin, project, tmp_path):
    record = create_decision(actor=agent, project=project, title="T", decision=f"The {KEY[:20]} here")
    keep_words([record])
    given = tmp_path / "texts"
    given.write_text(f"{KEY[:20]}\n\n")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "desk.log").write_text(f"line\nerror in {KEY[:20]}\n")
    code, said = proved(text_from=str(given), logs=[str(tmp_path / "logs")])
    assert code == 1
    for place in ("architecture_decisions.decision", "revisions.after", "index of words", "desk.log, line 2"):
        assert place in said
    assert KEY[:20] not in said
    erase([record], actor=admin, reason=WHY)
    assert proved(text_from=str(given))[0] == 0


@pytest.mark.parametrize("args", [(), ("nonsense",), ("dec_999",)])
def test_the_command_refuses_what_it_cannot_look_for(args, db):
    with pytest.raises(CommandError):
        proved(*args)


# --- manage.py scan_secrets ----------------------------------------------------------------------------------------
def scanned(**options) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("scan_secrets", stdout=out, **options)
    except SystemExit as end:
        return end.code, out.getvalue()
    return 0, out.getvalue()


def test_stored_secrets_are_found_named_and_taken_out(agent, project):
    assert scanned()[0] == 0
    record = create_decision(actor=agent, project=project, title="T", decision="D")
    write_as_sql(
        record, rationale=f"With {KEY}.", source_text=KEY, origin={"env": {"DB_PASSWORD": "hunTer2!Zebra"}}
    )
    sweep()
    code, said = scanned(project="shop")
    assert code == 1
    assert f"GitHub token in architecture_decisions.rationale, row {record.pk} of {record.node_id}" in said
    assert "password in architecture_decisions.origin" in said
    assert KEY not in said
    assert "hunTer2" not in said
    assert RecordFinding.objects.filter(code="secret").exists()
    with pytest.raises(CommandError, match="reason"):
        scanned(erase=True)
    code, said = scanned(erase=True, reason="They were leaked.")
    assert code == 0
    assert KEY not in said
    assert left(KEY) == left("hunTer2!Zebra") == []
    assert Decision.objects.get().rationale == "With [redacted: GitHub token]."
    assert not RecordFinding.objects.filter(code="secret").exists()
    assert scanned()[0] == 0


def test_a_secret_that_is_a_word_goes_from_where_it_was_found_alone(agent, project):
    words = [
        create_decision(actor=agent, project=project, title=f"Reorders {n}", decision="No orders.")
        for n in (1, 2)
    ]
    write_as_sql(
        words[0],
        rationale="See postgres://shop:orders@db/x: orders.",
        origin={"url": "redis://a:orders@db/1"},
    )
    sweep()
    code, said = scanned(erase=True, reason="It was leaked.")
    assert code == 0
    assert "could be ordinary words" in said
    kept, other = Decision.objects.order_by("pk")
    assert kept.rationale == "See postgres://shop:[redacted: password in an address]@db/x: orders."
    assert kept.origin == {"url": "redis://a:[redacted: password in an address]@db/1"}
    assert (kept.title, kept.decision) == ("Reorders 1", "No orders.")
    assert (other.title, other.version) == ("Reorders 2", 1)
    assert [row.after["title"] for row in Revision.objects.filter(node_id=kept.node_id)] == ["Reorders 1"] * 3
    assert left("shop:orders@") == left("a:orders@") == []
    assert scanned()[0] == 0
    assert sweep() == 0


def test_a_placeholder_that_does_not_fit_leaves_what_does(agent, admin, project):
    record = make("pattern", agent, project)
    room = type(record)._meta.get_field("name").max_length
    write_as_sql(record, name="x" * (room - 7) + " Mallo.")
    sweep()
    erase_value("Mallo", project, actor=admin, reason=WHY)
    record.refresh_from_db()
    assert record.name == ("x" * (room - 7) + " [erased].")[:room]


def test_an_unknown_project_is_said(db):
    with pytest.raises(CommandError, match="no project"):
        scanned(project="nowhere")
    assert not Project.objects.exists()

"""The admin: operators write through the verbs, with a reason and a version; nothing is deleted; lists cost the same."""

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from decisions.actions import edit_decision
from decisions.models import Decision, Outcome
from patterns.models import Pattern
from pitfalls.models import Pitfall
from projects.models import User
from records.links import link
from records.models import Link, ProjectionMark, Revision
from runs.models import Run
from tests.records.samples import make
from work_sessions.models import WorkSession

pytestmark = [pytest.mark.mysql, pytest.mark.django_db]
EDITED = {
    "decision": {
        "title": "Edited", "decision": "D", "rationale": "", "alternatives_considered": "", "status": "pending",
        "decided_at_0": "2026-03-15", "decided_at_1": "10:00:00", "tags": '["a"]',
    },
    "outcome": {"type": "outage", "success_rate": "", "note": "Edited", "occurred_at_0": "2026-03-15", "occurred_at_1": "10:00", "tags": "null"},
    "pattern": {"name": "Edited", "category": "c", "description": "", "code_example": "", "language": "", "tags": "null"},
    "pitfall": {"title": "Edited", "category": "c", "description": "", "how_to_avoid": "", "severity": "low", "tags": "null"},
    "session": {"started_at_0": "2026-03-15", "started_at_1": "10:00", "summary": "Edited", "context": '{"a": 1}', "tags": "null"},
    "run": {
        "agent_version": "2", "trigger_type": "Edited", "trigger_payload": "null", "started_at_0": "2026-03-15",
        "started_at_1": "10:00", "status": "failed", "outcome": "null", "tool_calls": "[1]", "token_cost": "5",
        "confidence": "0.5", "tags": "null",
    },
}  # fmt: skip
MODELS = {
    "decision": Decision,
    "outcome": Outcome,
    "pattern": Pattern,
    "pitfall": Pitfall,
    "session": WorkSession,
    "run": Run,
}
READ_ONLY = (
    "records_revision",
    "records_link",
    "records_projectionmark",
    "projects_project",
    "projects_membership",
    "projects_accessevent",
)


@pytest.fixture
def as_operator(client, db):
    client.force_login(User.objects.create_superuser("olga", password="correct horse battery"))
    return client


def change_url(record):
    return reverse(f"admin:{record._meta.app_label}_{record._meta.model_name}_change", args=[record.pk])


def names_of_lists():
    return [f"{model._meta.app_label}_{model._meta.model_name}" for model in admin.site._registry]


def errors_of(answer):
    form = answer.context["adminform"].form
    return {name: list(found) for name, found in form.errors.items()}


def test_every_kind_that_people_edit_is_there():
    assert {model for model in admin.site._registry if model in MODELS.values()} == set(MODELS.values())


@pytest.mark.parametrize("kind", EDITED)
def test_an_edit_goes_through_the_verb(as_operator, agent, project, kind):
    record = make(kind, agent, project)
    assert as_operator.get(change_url(record)).status_code == 200
    answer = as_operator.post(
        change_url(record), {**EDITED[kind], "reason": "by hand", "expected_version": "1"}
    )
    assert answer.status_code == 302, errors_of(answer)
    kept = MODELS[kind].objects.get(pk=record.pk)
    assert kept.version == 2
    assert "Edited" in str(vars(kept))
    revision = Revision.objects.filter(node_id=record.node_id).first()
    assert (revision.verb, revision.channel, revision.actor_name, revision.reason) == (
        "edit",
        "admin",
        "olga",
        "by hand",
    )
    assert ProjectionMark.objects.get(node_id=record.node_id).wanted_version == 2


@pytest.mark.parametrize("kind", EDITED)
def test_a_reason_and_the_version_that_was_seen_are_asked_for(as_operator, agent, project, kind):
    record = make(kind, agent, project)
    for more, field in (
        ({"expected_version": "1"}, "reason"), ({"reason": " ", "expected_version": "1"}, "reason"),
        ({"reason": "x"}, "__all__"), ({"reason": "x", "expected_version": "0"}, "__all__"),
        ({"reason": "x", "expected_version": "one"}, "expected_version"),
        ({"reason": "x\x00", "expected_version": "1"}, "reason"),
    ):  # fmt: skip
        answer = as_operator.post(change_url(record), {**EDITED[kind], **more})
        assert answer.status_code == 200
        assert field in errors_of(answer), more
    assert MODELS[kind].objects.get(pk=record.pk).version == 1


def test_a_stale_version_is_refused_clearly_and_keeps_what_was_typed(as_operator, agent, curator, project):
    decision = make("decision", agent, project)
    edit_decision(actor=curator, decision=decision, changes={"title": "Theirs"})
    answer = as_operator.post(
        change_url(decision), {**EDITED["decision"], "reason": "typed", "expected_version": "1"}
    )
    assert answer.status_code == 200
    assert "Someone saved version 2 while this form showed 1." in answer.content.decode()
    assert 'value="Edited"' in answer.content.decode()
    assert Decision.objects.get().title == "Theirs"


def test_plain_sql_in_between_is_seen_by_the_verb_and_shown_on_the_form(as_operator, agent, project):
    from tests.records.samples import write_as_sql

    decision = make("decision", agent, project)
    write_as_sql(decision, title="By SQL")
    answer = as_operator.post(
        change_url(decision), {**EDITED["decision"], "reason": "typed", "expected_version": "1"}
    )
    assert answer.status_code == 200
    assert "someone else saved it first" in answer.content.decode()
    assert 'value="Edited"' in answer.content.decode()
    assert Decision.objects.get().title == "By SQL"


BAD = [
    ("decision", {"title": ""}, "title"), ("decision", {"title": "a\x00"}, "title"), ("decision", {"status": "maybe"}, "status"),
    ("decision", {"tags": '"redis"'}, "tags"), ("decision", {"tags": "[1]"}, "tags"), ("decision", {"tags": "{"}, "tags"),
    ("decision", {"tags": "[" * 50_000}, "tags"), ("decision", {"tags": "1" * 5000}, "tags"), ("decision", {"tags": '[""]'}, "tags"),
    ("decision", {"decided_at_0": "0001-01-01"}, "decided_at"), ("decision", {"decided_at_0": "9999-12-31"}, "decided_at"),
    ("decision", {"decided_at_0": "soon"}, "decided_at"), ("decision", {"rationale": "x" * (1024 * 1024 + 1)}, "rationale"),
    ("outcome", {"type": "Not A Word"}, "type"), ("outcome", {"success_rate": "2"}, "success_rate"),
    ("outcome", {"success_rate": "nan"}, "success_rate"), ("pattern", {"category": "x" * 51}, "category"),
    ("pitfall", {"severity": "dire"}, "severity"), ("session", {"context": "NaN"}, "context"),
    ("session", {"context": "[" * 80 + "]" * 80}, "context"), ("session", {"context": '"\\ud800"'}, "context"),
    ("session", {"context": '"\\u0000"'}, "context"), ("session", {"started_at_0": ""}, "started_at"),
    ("run", {"token_cost": "-1"}, "token_cost"), ("run", {"confidence": "1.5"}, "confidence"),
    ("run", {"tool_calls": "1e999"}, "tool_calls"), ("run", {"outcome": "not json"}, "outcome"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "bad", "field"), BAD, ids=range(len(BAD)))
def test_bad_input_is_an_error_beside_its_field(as_operator, agent, project, kind, bad, field):
    record = make(kind, agent, project)
    answer = as_operator.post(
        change_url(record), {**EDITED[kind], **bad, "reason": "x", "expected_version": "1"}
    )
    assert answer.status_code == 200
    assert field in errors_of(answer), errors_of(answer)
    assert MODELS[kind].objects.get(pk=record.pk).version == 1


def test_a_number_no_integer_column_keeps_is_refused(as_operator, agent, project):
    run = make("run", agent, project)
    answer = as_operator.post(
        change_url(run), {**EDITED["run"], "token_cost": str(10**30), "reason": "x", "expected_version": "1"}
    )
    assert answer.status_code == 200
    assert "token_cost" in errors_of(answer)


@pytest.mark.parametrize("kind", ["decision", "pattern", "pitfall"])
def test_an_operator_can_add_what_people_write(as_operator, project, kind):
    model = MODELS[kind]
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_add")
    assert as_operator.get(address).status_code == 200
    answer = as_operator.post(address, {**EDITED[kind], "project": project.pk})
    assert "reason" in errors_of(answer)
    answer = as_operator.post(address, {**EDITED[kind], "project": project.pk, "reason": "first"})
    assert answer.status_code == 302, errors_of(answer)
    made = model.objects.get()
    assert (made.version, made.project, made.source_name) == (1, project, "olga")
    assert (Revision.objects.get().verb, Revision.objects.get().channel) == ("create", "admin")


@pytest.mark.parametrize("kind", ["outcome", "session", "run"])
def test_what_agents_alone_write_is_not_added_here(as_operator, kind):
    meta = MODELS[kind]._meta
    assert as_operator.get(reverse(f"admin:{meta.app_label}_{meta.model_name}_add")).status_code == 403


@pytest.mark.parametrize("kind", EDITED)
def test_nothing_is_deleted_here(as_operator, agent, project, kind):
    record = make(kind, agent, project)
    address = change_url(record).replace("/change/", "/delete/")
    assert as_operator.get(address).status_code == 403
    assert as_operator.post(address, {"post": "yes"}).status_code == 403
    meta = record._meta
    listing = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    as_operator.post(
        listing, {"action": "delete_selected", "_selected_action": [str(record.pk)], "post": "yes"}
    )
    assert MODELS[kind].objects.filter(pk=record.pk).exists()


def test_history_links_and_marks_are_read_only(as_operator, agent, project):
    one, two = make("decision", agent, project, "One"), make("pattern", agent, project, "Two")
    link(one, "RELATES_TO", two, actor=agent)
    for row in (Revision.objects.first(), Link.objects.first(), ProjectionMark.objects.first()):
        address = change_url(row)
        assert as_operator.get(address).status_code == 200
        assert (
            as_operator.post(address, {"verb": "forged", "relation": "SUPERSEDES", "dead": "on"}).status_code
            == 403
        )
        assert as_operator.post(address.replace("/change/", "/delete/"), {"post": "yes"}).status_code == 403
        name = f"{row._meta.app_label}_{row._meta.model_name}"
        assert as_operator.get(reverse(f"admin:{name}_add")).status_code == 403
    assert Link.objects.get().relation == "RELATES_TO"


@pytest.mark.parametrize("name", names_of_lists())
def test_every_list_renders_with_rows_search_and_filters(as_operator, agent, project, curator_user, name):
    records = [make(kind, agent, project, f"{kind} one") for kind in EDITED]
    link(records[0], "RELATES_TO", records[2], actor=agent)
    address = reverse(f"admin:{name}_changelist")
    for query in ({}, {"q": "one"}, {"q": "a\x00"}, {"o": "1.2"}, {"p": "99999"}):
        assert as_operator.get(address, query).status_code in (200, 302), query


@pytest.mark.parametrize("kind", EDITED)
def test_a_list_asks_as_much_for_many_rows_as_for_few(as_operator, agent, project, kind):
    meta = MODELS[kind]._meta
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")

    def asked():
        as_operator.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert as_operator.get(address).status_code == 200
        return len(queries)

    for number in range(2):
        make(kind, agent, project, f"No {number}")
    few = asked()
    for number in range(2, 8):
        make(kind, agent, project, f"No {number}")
    assert asked() == few


def test_the_admin_is_for_staff_alone(client, admin_user, agent, project):
    decision = make("decision", agent, project)
    client.force_login(admin_user)
    answer = client.get(change_url(decision))
    assert (answer.status_code, answer["Location"].startswith("/admin/login/")) == (302, True)
    admin_user.is_staff = True
    admin_user.save()
    client.force_login(admin_user)
    assert client.get(change_url(decision)).status_code == 403

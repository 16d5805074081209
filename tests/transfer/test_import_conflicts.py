"""An import never overwrites what a person edited: conflicts, and how they are settled."""

from __future__ import annotations

import pytest

from decisions.actions import change_status, edit_decision
from decisions.imported import CONFLICT, SETTLED, open_conflict
from decisions.models import Decision
from records.models import Revision
from tests.transfer.adr_folder import CACHE, only, outcomes, run, traces
from transfer.importing.importer import ACTOR_NAME
from transfer.importing.report import Report

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_a_persons_edit_alone_is_kept_and_nothing_is_written(folder, project, curator):
    run(folder, project)
    edit_decision(actor=curator, decision=only(project), changes={"title": "Cache totals"})
    before = traces(project)
    report = run(folder, project)
    assert outcomes(report) == {"0001-cache.md": "unchanged"}
    assert traces(project) == before
    assert only(project).title == "Cache totals"


def edited_on_both_sides(folder, project, curator) -> Report:
    run(folder, project)
    edit_decision(actor=curator, decision=only(project), changes={"decision": "We keep totals in memory."})
    (folder / "0001-cache.md").write_text(CACHE.replace("Redis", "Valkey"), encoding="utf-8")
    return run(folder, project)


def test_edited_on_both_sides_is_a_conflict_that_overwrites_nothing(folder, project, curator):
    report = edited_on_both_sides(folder, project, curator)
    decision = only(project)
    assert outcomes(report) == {"0001-cache.md": "conflict"}
    assert decision.decision == "We keep totals in memory."
    conflict = open_conflict(decision)
    assert conflict is not None
    assert conflict.detail["theirs"]["decision"] == "We keep totals in Valkey."


def test_a_conflict_is_noted_once(folder, project, curator):
    edited_on_both_sides(folder, project, curator)
    before = traces(project)
    assert outcomes(run(folder, project)) == {"0001-cache.md": "conflict"}
    assert traces(project) == before


def test_a_document_with_secrets_is_kept_without_them_and_a_second_run_writes_nothing(
    folder, project, curator
):
    secret = "ghp_" + "aB1" * 12
    told = CACHE.replace("Use a cache", f"Use {secret} " + "x" * 240).replace(
        "in Redis", f"in Redis, by {secret}"
    )
    (folder / "0001-cache.md").write_text(told, encoding="utf-8")
    run(folder, project)
    before = traces(project)
    report = run(folder, project)
    assert outcomes(report) == {"0001-cache.md": "unchanged"}
    assert traces(project) == before
    edit_decision(actor=curator, decision=only(project), changes={"decision": "We keep totals in memory."})
    (folder / "0001-cache.md").write_text(told.replace("Redis", "Valkey"), encoding="utf-8")
    assert outcomes(run(folder, project)) == {"0001-cache.md": "conflict"}
    for row in [*Decision.objects.values(), *Revision.objects.values()]:
        assert secret not in repr(row)
    assert "taken out of the text: GitHub token" in only(project).origin["notes"]


def test_a_status_changed_by_a_person_is_not_overwritten(folder, project, curator):
    run(folder, project)
    change_status(actor=curator, decisions=[only(project)], status="deprecated", reason="It is gone.")
    (folder / "0001-cache.md").write_text(CACHE.replace("Redis", "Valkey"), encoding="utf-8")
    assert outcomes(run(folder, project)) == {"0001-cache.md": "conflict"}
    assert only(project).status == "deprecated"


def test_the_same_edit_on_both_sides_is_no_conflict(folder, project, curator):
    run(folder, project)
    edit_decision(actor=curator, decision=only(project), changes={"decision": "We keep totals in Valkey."})
    (folder / "0001-cache.md").write_text(CACHE.replace("Redis", "Valkey"), encoding="utf-8")
    assert outcomes(run(folder, project)) == {"0001-cache.md": "updated"}
    assert outcomes(run(folder, project)) == {"0001-cache.md": "unchanged"}


def test_a_conflict_ends_when_the_document_is_again_as_imported(folder, project, curator):
    edited_on_both_sides(folder, project, curator)
    (folder / "0001-cache.md").write_text(CACHE, encoding="utf-8")
    assert outcomes(run(folder, project)) == {"0001-cache.md": "unchanged"}
    assert open_conflict(only(project)) is None
    assert only(project).decision == "We keep totals in memory."


@pytest.mark.parametrize(
    ("choice", "kept"), [("record", "We keep totals in memory."), ("document", "We keep totals in Valkey.")]
)
def test_a_person_settles_a_conflict_on_its_page(
    folder, project, curator, curator_user, client, choice, kept
):
    edited_on_both_sides(folder, project, curator)
    decision = only(project)
    client.force_login(curator_user, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(f"/p/shop/decisions/{decision.pk}/").content.decode()
    assert 'id="import-conflict"' in page
    answer = client.post(
        f"/p/shop/decisions/{decision.pk}/settle/", {"choice": choice, "version": decision.version}
    )
    assert answer.status_code == 303
    decision = only(project)
    assert decision.decision == kept
    assert Revision.objects.filter(node_id=decision.node_id, verb=SETTLED).count() == 1
    page = client.get(f"/p/shop/decisions/{decision.pk}/").content.decode()
    assert 'id="import-conflict"' not in page
    assert "Original document" in page
    assert outcomes(run(folder, project)) == {"0001-cache.md": "unchanged"}


def test_settling_with_a_stale_version_changes_nothing(folder, project, curator, curator_user, client):
    edited_on_both_sides(folder, project, curator)
    decision = only(project)
    client.force_login(curator_user, backend="django.contrib.auth.backends.ModelBackend")
    client.post(f"/p/shop/decisions/{decision.pk}/settle/", {"choice": "document", "version": 1})
    assert only(project).decision == "We keep totals in memory."
    assert open_conflict(only(project)) is not None


def test_conflicts_are_events_beside_the_versions(folder, project, curator):
    edited_on_both_sides(folder, project, curator)
    event = Revision.objects.get(verb=CONFLICT)
    assert (event.version, event.channel, event.actor_name) == (None, "import", ACTOR_NAME)

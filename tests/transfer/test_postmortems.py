"""Importing post-mortems: written once, updated when they change, never over what people edited."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from decisions.actions import create_decision
from decisions.models import Outcome
from pitfalls.actions import edit_pitfall
from pitfalls.models import Pitfall
from records.models import Link, ProjectionMark, Revision
from runs.models import Memory, Run
from tests.public_records import public_records
from tests.transfer.postmortem_texts import DATA, HEADED, LABELLED
from transfer.importing.importer import ImportRunning
from transfer.postmortems import importer
from transfer.postmortems.importer import ACTOR_NAME, Options, import_postmortems

pytestmark = [pytest.mark.django_db, pytest.mark.mysql]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lag.html.md.erb").write_text(LABELLED, encoding="utf-8")
    (tmp_path / "queue.yaml").write_text(DATA, encoding="utf-8")
    return tmp_path


def run(folder: Path, project, **options):
    return import_postmortems(folder, project, Options(**options))


def outcomes(report) -> dict[str, str]:
    return {file.path: file.outcome for file in report.files}


def traces(project) -> tuple[int, int, int]:
    wanted = ProjectionMark.objects.filter(project_id=project.pk).values_list("wanted_version", flat=True)
    return Revision.objects.filter(project=project).count(), sum(wanted), Link.objects.count()


def test_a_report_becomes_a_run_its_memory_and_a_pitfall(folder, project):
    report = run(folder, project)
    assert outcomes(report) == {"lag.html.md.erb": "imported", "queue.yaml": "imported"}
    incident = Run.objects.get(project=project, started_at__year=2024, started_at__month=3)
    assert incident.trigger_payload["alert"] == "Replica lag after a bulk delete"
    assert incident.trigger_payload["title"] == "Incident on 2024-03-15 - Replica lag after a bulk delete"
    assert incident.trigger_payload["signal"] == "The lag alert of db-2 fired."
    assert incident.trigger_payload["document"] == {"path": "lag.html.md.erb", "fields": {"weight": "3"}}
    assert (incident.started_at.isoformat(), incident.ended_at.isoformat()) == (
        "2024-03-15T10:15:00+00:00", "2024-03-15T11:40:00+00:00",
    )  # fmt: skip
    assert [call["arguments"]["command"] for call in incident.tool_calls] == ["mysql -e 'KILL 42'"]
    assert (incident.status, incident.agent_name, incident.escalated_to_human) == (
        "succeeded",
        "post-mortem",
        True,
    )
    memory = Memory.objects.get(source_run_fk=incident)
    assert "Reports were ten minutes old." in memory.summary
    pitfall = Pitfall.objects.get(source_run=incident.node_id)
    assert (pitfall.title, pitfall.severity, pitfall.category) == (
        "Replica lag after a bulk delete", "high", "database",
    )  # fmt: skip
    assert pitfall.how_to_avoid.strip() == "- Delete in batches of 5,000."
    assert "The purge job deleted 40 million rows." in pitfall.description
    assert (pitfall.source_kind, pitfall.source_name, pitfall.review_state) == (
        "document", ACTOR_NAME, "unreviewed",
    )  # fmt: skip
    assert Link.objects.filter(relation="RELATES_TO").count() == 2


def test_yaml_keeps_every_value_as_it_is_written(folder, project):
    run(folder, project)
    pitfall = Pitfall.objects.get(category="data-loss")
    assert (pitfall.severity, pitfall.title, pitfall.tags) == (
        "critical", "Queue lost its messages", ["post-mortem", "queue", "broker"],
    )  # fmt: skip
    assert pitfall.description.startswith("## Trigger\n\nA broker restarted.")
    assert "## Details\n\n- Incident id: 2024-queue\n\n- Date: 2024-05-06" in pitfall.description
    assert "scope: all orders of one hour" in pitfall.description
    assert re.search(r"- counts:\n\s+- 3\n\s+- 4", pitfall.description)
    assert pitfall.how_to_avoid == "Declare queues durable."


def test_a_second_run_writes_nothing(folder, project):
    run(folder, project)
    before = traces(project)
    report = run(folder, project)
    assert set(outcomes(report).values()) == {"unchanged"}
    assert traces(project) == before


def test_a_dry_run_says_the_same_and_writes_nothing(folder, project):
    assert set(outcomes(run(folder, project, dry_run=True)).values()) == {"imported"}
    assert traces(project) == (0, 0, 0)
    assert not Run.objects.exists()


def test_a_changed_document_updates_only_what_nobody_edited(folder, project, curator):
    run(folder, project)
    pitfall = Pitfall.objects.get(category="database")
    edit_pitfall(actor=curator, pitfall=pitfall, changes={"title": "Purge in batches"})
    (folder / "lag.html.md.erb").write_text(LABELLED.replace("5,000", "1,000"), encoding="utf-8")
    report = run(folder, project)
    pitfall.refresh_from_db()
    assert outcomes(report)["lag.html.md.erb"] == "conflict"
    assert (pitfall.title, "5,000" in pitfall.how_to_avoid) == ("Purge in batches", True)
    memory = Memory.objects.get(summary__contains="Replica lag")
    assert "1,000" in memory.summary
    said = next(line for line in report.files[0].records if line.key == "pitfall").said
    assert "not overwritten (title, how_to_avoid)" in said[0]


def test_an_edit_here_is_kept_while_the_document_stays(folder, project, curator):
    run(folder, project)
    pitfall = Pitfall.objects.get(category="database")
    edit_pitfall(actor=curator, pitfall=pitfall, changes={"severity": "low"})
    assert outcomes(run(folder, project))["lag.html.md.erb"] == "unchanged"
    pitfall.refresh_from_db()
    assert pitfall.severity == "low"


def test_a_decision_that_is_named_has_an_outcome(tmp_path, project, other_project, agent):
    named = create_decision(
        actor=agent, project=project, title="Keep orders in a queue", decision="x", origin={"number": "7"}
    )
    by_title = create_decision(actor=agent, project=project, title="Nobody watched the queue", decision="x")
    (tmp_path / "a.md").write_text(HEADED, encoding="utf-8")
    report = run(tmp_path, project)
    found = {outcome.decision_id: outcome for outcome in Outcome.objects.all()}
    assert set(found) == {named.pk, by_title.pk}
    assert found[named.pk].type == "outage"
    assert found[named.pk].source_run == Run.objects.get().node_id
    assert run(tmp_path, project).counts()["outcome"] == {"unchanged": 2}
    assert report.counts()["outcome"] == {"imported": 2}


@pytest.mark.parametrize(
    ("name", "text", "outcome", "why"),
    [
        ("template.md", "# Title\n\n## Impact\n\n## Root cause\n\n## Prevention\n\nTBD\n", "left out", "unfilled template"),
        ("named.md", "# Post-Mortem: [NAME]\n\n## Impact\nHow?\n\n## Root cause\nWhy?\n", "left out", "template"),
        ("readme.md", "# Our incidents\n\nSee below.\n", "left out", "no post-mortem"),
        ("empty.md", "\n", "left out", "empty"),
        ("broken.yaml", "title: [\n", "failed", "no valid YAML (line"),
        ("bomb.yaml", "a: &a [x]\ntitle: *a\n", "failed", "aliases"),
        ("deep.yaml", "impact: " + "[" * 5000, "failed", ""),
        ("list.yaml", "- 1\n- 2\n", "left out", "no post-mortem"),
        ("binary.md", "\x01\x02\x03" * 100, "left out", "binary"),
        ("tests/fixture.yaml", DATA, "left out", "folder of tests"),
    ],
)  # fmt: skip
def test_what_is_no_post_mortem_is_listed_with_its_reason(tmp_path, project, name, text, outcome, why):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text, encoding="utf-8")
    (file,) = run(tmp_path, project).files
    assert file.outcome == outcome
    assert why in file.why
    assert traces(project) == (0, 0, 0)


def test_two_files_of_one_id_are_not_taken_for_one(tmp_path, project):
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(DATA, encoding="utf-8")
    report = run(tmp_path, project)
    assert outcomes(report) == {"a.yaml": "imported", "b.yaml": "failed"}
    assert report.files[1].why == "its id 2024-queue is that of a.yaml too"


def test_secrets_are_taken_out_and_a_second_run_is_still_unchanged(tmp_path, project):
    (tmp_path / "a.yaml").write_text(DATA.replace("A broker", "ghp_" + "a1B2" * 9), encoding="utf-8")
    run(tmp_path, project)
    assert "ghp_" not in json.dumps(Run.objects.get().trigger_payload) + Pitfall.objects.get().description
    assert outcomes(run(tmp_path, project)) == {"a.yaml": "unchanged"}


def test_a_file_is_written_whole_or_not_at_all(folder, project, monkeypatch):
    def refuse(**_):
        raise importer.VerbError("no")

    monkeypatch.setattr(importer, "create_pitfalls", refuse)
    report = run(folder, project)
    assert set(outcomes(report).values()) == {"failed"}
    assert traces(project) == (0, 0, 0)


def test_another_import_is_waited_for(folder, project, monkeypatch):
    monkeypatch.setattr(importer.leases, "take", lambda *a: False)
    with pytest.raises(ImportRunning):
        run(folder, project)


def test_the_command_prints_what_came_out(folder, project):
    out = StringIO()
    call_command("import_postmortems", str(folder), project=project.slug, no_wait=True, stdout=out)
    assert re.search(r"^imported +2 +2 +2 +2 +0$", out.getvalue(), re.MULTILINE)
    with pytest.raises(CommandError, match="There is no project"):
        call_command("import_postmortems", str(folder), project="nowhere")
    with pytest.raises(CommandError, match="There is no"):
        call_command("import_postmortems", str(folder / "gone"), project=project.slug)


def test_real_reports_are_read_whole_and_read_again_without_a_change(project):
    folder = public_records() / "postmortems"
    report = run(folder, project)
    counted = report.counts()
    assert counted["files"] == {"imported": 34, "left out": 10}
    assert [counted[kind]["imported"] for kind in ("run", "memory", "pitfall")] == [34, 34, 34]
    for incident in Run.objects.all():
        pitfall = Pitfall.objects.get(source_run=incident.node_id)
        text = (folder / incident.trigger_payload["document"]["path"]).read_text(encoding="utf-8")
        kept = _letters(" ".join([pitfall.description, pitfall.how_to_avoid or "", json.dumps(incident.trigger_payload, ensure_ascii=False)]))  # fmt: skip
        labels = {"title", "actions", "following", "review", "reviewactions"}
        lost = {w for w in map(_letters, text.split()) if w and w not in kept and w.casefold() not in labels}
        keys = set(re.findall(r"^[a-z_]+(?=:)", text, re.MULTILINE))
        assert lost <= set(map(_letters, keys)), incident.trigger_payload["document"]
    before = traces(project)
    assert run(folder, project).counts()["files"] == {"unchanged": 34, "left out": 10}
    assert traces(project) == before


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)

"""Importing decision records: written once, updated when their documents change; and the command."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from decisions.models import Decision
from records.models import ProjectionMark, Revision
from tests.transfer.adr_folder import CACHE, NO_CACHE, only, outcomes, run, traces
from transfer.importing.importer import ACTOR_NAME, ImportRunning, Options, import_folder

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_a_record_becomes_a_decision_with_its_whole_text(folder, project):
    report = run(folder, project)
    decision = only(project)
    assert outcomes(report) == {"0001-cache.md": "imported"}
    assert (decision.title, decision.status, decision.status_written) == (
        "Use a cache",
        "accepted",
        "accepted",
    )
    assert (decision.decided_at.isoformat(), decision.decided_precision) == (
        "2024-03-15T00:00:00+00:00",
        "day",
    )
    assert decision.decision == "We keep totals in Redis."
    assert "## Context\n\nTotals are slow." in decision.rationale
    assert "A server more." in decision.rationale
    assert "Redis" not in decision.rationale
    assert decision.source_text == CACHE
    assert decision.origin["deciders"] == ["Ada", "Grace"]
    assert (decision.source_kind, decision.source_name, decision.review_state) == (
        "document", ACTOR_NAME, "unreviewed",
    )  # fmt: skip


def test_the_history_names_the_file_and_a_mark_asks_for_its_embedding(folder, project):
    run(folder, project)
    decision = only(project)
    revision = Revision.objects.get(node_id=decision.node_id)
    assert (revision.verb, revision.channel, revision.reason) == (
        "create",
        "import",
        "Read from 0001-cache.md",
    )
    assert ProjectionMark.objects.get(node_id=decision.node_id).next_try_at is not None


def test_a_second_run_writes_nothing(folder, project):
    (folder / "0002-no-cache.md").write_text(NO_CACHE, encoding="utf-8")
    run(folder, project)
    before = traces(project)
    report = run(folder, project)
    assert set(outcomes(report).values()) == {"unchanged"}
    assert traces(project) == before


def test_a_changed_file_updates_its_record_in_one_revision(folder, project):
    run(folder, project)
    (folder / "0001-cache.md").write_text(CACHE.replace("Redis", "Valkey"), encoding="utf-8")
    report = run(folder, project)
    decision = only(project)
    assert outcomes(report) == {"0001-cache.md": "updated"}
    assert decision.decision == "We keep totals in Valkey."
    assert "Valkey" in decision.source_text
    verbs = list(
        Revision.objects.filter(node_id=decision.node_id).order_by("id").values_list("verb", flat=True)
    )
    assert verbs == ["create", "import"]


def test_a_date_that_goes_takes_its_place_in_the_list_with_it(folder, project):
    run(folder, project)
    (folder / "0001-cache.md").write_text(CACHE.replace("2024-03-15", "2025-01-02"), encoding="utf-8")
    run(folder, project)
    decision = only(project)
    assert decision.sort_at == decision.decided_at
    assert decision.decided_at.year == 2025


def test_a_renamed_file_is_the_same_record(folder, project):
    run(folder, project)
    (folder / "old").mkdir()
    (folder / "0001-cache.md").rename(folder / "old" / "0007-a-cache.md")
    report = run(folder, project)
    assert outcomes(report) == {"old/0007-a-cache.md": "updated"}
    assert report.gone == []
    assert only(project).origin["path"] == "old/0007-a-cache.md"
    assert set(outcomes(run(folder, project)).values()) == {"unchanged"}


def test_a_file_that_is_gone_is_said_and_its_record_left(folder, project):
    run(folder, project)
    (folder / "0001-cache.md").unlink()
    before = traces(project)
    report = run(folder, project)
    assert report.gone == [("0001-cache.md", only(project).node_id)]
    assert traces(project) == before


def test_a_record_deleted_to_a_template_keeps_its_decision(folder, project):
    run(folder, project)
    (folder / "0001-cache.md").write_text("", encoding="utf-8")
    report = run(folder, project)
    assert outcomes(report) == {"0001-cache.md": "left out"}
    assert report.files[0].notes == [f"was {only(project).node_id}, which is left as it is"]


def test_a_dry_run_writes_nothing(folder, project):
    (folder / "0002-no-cache.md").write_text(NO_CACHE, encoding="utf-8")
    report = run(folder, project, dry_run=True)
    assert set(outcomes(report).values()) == {"imported"}
    assert report.links.made == 1
    assert not Decision.objects.exists()
    assert not Revision.objects.exists()


def test_an_interrupted_import_goes_on_where_it_stopped(folder, project, monkeypatch):
    from transfer.importing import importer

    for number in range(2, 30):
        (folder / f"{number:04}-x{number}.md").write_text(
            CACHE.replace("cache", f"cache {number}"), encoding="utf-8"
        )
    monkeypatch.setattr(importer, "FILES_A_TRANSACTION", 5)

    def stop(what: str, done: int, total: int) -> None:
        if what == "import" and done >= 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_folder(folder, project, Options(), stop)
    assert Decision.objects.filter(project=project).count() == 10
    report = run(folder, project)
    assert report.counts()["unchanged"] == 10
    assert Decision.objects.filter(project=project).count() == 29


def test_two_imports_at_once_into_a_project_are_refused(folder, project):
    from records import leases

    leases.take(f"import into project {project.pk}", "another", 60)
    with pytest.raises(ImportRunning):
        run(folder, project)


def test_folders_of_two_repositories_are_told_apart_by_their_source(folder, project):
    run(folder, project, source="shop")
    report = run(folder, project, source="bank")
    assert outcomes(report) == {"0001-cache.md": "imported"}
    assert Decision.objects.filter(project=project).count() == 2


def test_a_log_of_forty_decisions_becomes_forty_records(tmp_path, project):
    parts = [
        f"## ADR-{n}: Use thing {n}\n\nStatus: accepted\n\nDate: 2024-01-{n % 28 + 1:02}\n\n"
        f"### Context\n\nNumber {n} was slow.\n\n### Decision\n\nTake thing {n}.\n"
        for n in range(1, 41)
    ]
    (tmp_path / "decisions.md").write_text("# Decision log\n\n" + "\n".join(parts), encoding="utf-8")
    report = run(tmp_path, project)
    assert len(report.files[0].records) == 40
    assert Decision.objects.filter(project=project, status="accepted").count() == 40
    assert Decision.objects.get(title="Use thing 7").source_text.startswith("## ADR-7: Use thing 7")
    assert run(tmp_path, project).record_counts()["unchanged"] == 40


def test_approved_in_the_name_of_a_person(folder, project, curator_user):
    call_command("import_adrs", str(folder), project="shop", approved_by="cleo", no_wait=True)
    decision = only(project)
    assert (decision.review_state, decision.reviewed_by) == ("approved", curator_user)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"project": "nowhere"}, "There is no project 'nowhere'. There is: shop."),
        ({"project": "shop", "approved_by": "nobody"}, "There is no active account 'nobody'."),
        ({"project": "shop", "approved_by": "vera"}, "vera may not review in this project."),
    ],
)
def test_the_command_says_what_is_wrong_with_its_arguments(folder, project, viewer_user, options, said):
    with pytest.raises(CommandError, match=said.replace(".", r"\.")):
        call_command("import_adrs", str(folder), no_wait=True, **options)
    with pytest.raises(CommandError, match="There is no"):
        call_command("import_adrs", str(folder / "absent"), project="shop")


def test_the_report_is_readable_by_a_program(folder, project, capsys):
    call_command("import_adrs", str(folder), project="shop", report="json", no_wait=True)
    report = json.loads(capsys.readouterr().out)
    assert report["files_by_outcome"]["imported"] == 1
    assert report["files"][0]["records"][0]["node_id"] == only(project).node_id


def test_a_project_is_made_only_when_asked(folder, db):
    from projects.models import Project

    with pytest.raises(CommandError, match="letters, digits"):
        call_command("import_adrs", str(folder), project="no slug", create_project=True)
    call_command("import_adrs", str(folder), project="garage", create_project=True, dry_run=True)
    assert not Project.objects.exists()
    call_command("import_adrs", str(folder), project="garage", create_project=True, no_wait=True)
    assert only(Project.objects.get(slug="garage")).title == "Use a cache"

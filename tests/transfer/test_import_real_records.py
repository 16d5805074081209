"""The import of records nobody here wrote, judged by the rows it leaves."""

from __future__ import annotations

import shutil
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
from django.core.management import call_command

from decisions.models import Decision
from projects.models import Project
from records.models import Link, Revision
from tests.public_records import public_records, rows
from transfer.importing.importer import Options, import_folder
from transfer.importing.scoring import score_project

pytestmark = [pytest.mark.django_db, pytest.mark.mysql]


def test_the_folder_is_imported_right_linked_and_a_second_time_nothing_is_written(project):
    folder = public_records() / "adrs"
    index = rows(folder / "index.tsv")
    expected = {row["file"]: row for row in rows(folder / "expected.tsv")}
    found = score_project(folder, project, expected)
    kept = Decision.objects.filter(project=project)
    assert {decision.origin["file"] for decision in kept} == {
        r["file"] for r in index if r["kind"] == "record"
    }
    assert kept.count() == 291
    assert {name: found.score.share(name) >= 97 for name in found.score.counted} == {
        "title": True, "status": True, "date": True,
    }, found.score.misses  # fmt: skip
    assert found.superseded_by_unresolved == []
    assert found.superseded_without_successor == []
    assert set(found.second_wrote.values()) == {0}
    assert not found.first.failed
    for decision in kept.iterator(chunk_size=20):
        assert decision.decision.strip()
        assert decision.source_text.strip()


def test_the_table_is_printed_by_a_command_that_leaves_nothing(tmp_path, db):
    (tmp_path / "0001-x.md").write_text("# Use x\n\nStatus: accepted\n\n## Decision\n\nTake x.\n")
    table = tmp_path / "expected.tsv"
    table.write_text("file\ttitle\tstatus\tdate\n0001-x.md\tUse y\taccepted\t?\n")
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("score_adr_import", str(tmp_path), str(table), stdout=out)
    said = out.getvalue()
    assert 'title: 0001-x.md\n    expected "Use y", is "Use x" (read from heading)' in said
    assert "status        1        1  100.00" in said
    assert not Decision.objects.exists()
    assert not Project.objects.exists()


def records_with_versions() -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for row in rows(public_records() / "adr-versions" / "index.tsv"):
        found.setdefault(f"{row['repo']}/{row['path_now']}", []).append(row)
    return found


def put(source: Path, folder: Path, path: str) -> None:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)


def test_every_version_as_then_and_then_as_now_is_one_record_with_its_history(project, tmp_path):
    """All 17 but one: the earliest README of one record has 51 bytes and is no record, so it makes none."""
    data = public_records()
    for number, (name, versions) in enumerate(sorted(records_with_versions().items())):
        own = Project.objects.create(name=name[:200], slug=f"versions-{number}")
        steps = [(data / "adr-versions" / row["file"], row["path_then"]) for row in versions]
        now = versions[-1]["path_now"]
        steps.append((data / "adrs" / versions[0]["repo"].replace("/", "+") / now, now))
        reports = []
        for step, (source, path) in enumerate(steps):
            folder = tmp_path / f"{number}-{step}"
            put(source, folder, path)
            reports.append(import_folder(folder, own, Options()))
        decision = Decision.objects.get(project=own)
        assert decision.origin["path"] == now
        outcomes = [report.files[0].outcome for report in reports]
        if (data / "adr-versions" / versions[0]["file"]).stat().st_size == 51:
            assert outcomes.pop(0) == "left out"
            steps.pop(0)
        written = [(path, source.read_bytes()) for source, path in steps]
        turns = ["unchanged" if b == a else "updated" for a, b in pairwise(written)]
        assert outcomes == ["imported", *turns], name
        assert all(not report.gone for report in reports)
        acts = Revision.objects.filter(node_id=decision.node_id, version__isnull=False).order_by("version")
        assert [act.verb for act in acts] == ["create"] + ["import"] * turns.count("updated"), name
        source = Decision.objects.values_list("source_text", flat=True).get(pk=decision.pk)
        assert source == steps[-1][0].read_text(encoding="utf-8")


@pytest.mark.slow
def test_versions_among_all_their_neighbours_are_still_one_record_each(project, tmp_path):
    """As a repository has them: the whole folder with the first versions at their old paths, then as it is."""
    data = public_records()
    then = tmp_path / "then"
    shutil.copytree(data / "adrs", then)
    firsts = {}
    for name, versions in records_with_versions().items():
        row = next(r for r in versions if r["size"] != "51")
        folder = then / row["repo"].replace("/", "+")
        (folder / row["path_now"]).unlink()
        put(data / "adr-versions" / row["file"], folder, row["path_then"])
        firsts[name] = f"{row['repo'].replace('/', '+')}/{row['path_then']}"
    import_folder(then, project, Options())
    before = {d.origin["path"]: d.pk for d in Decision.objects.filter(project=project).only("pk", "origin")}
    links = Link.objects.filter(project=project).count()
    report = import_folder(data / "adrs", project, Options())
    after = {d.origin["path"]: d.pk for d in Decision.objects.filter(project=project).only("pk", "origin")}
    assert len(after) == len(before) == 291
    for name, path in firsts.items():
        repo, _, rest = name.partition("/")[2].partition("/")
        now = f"{name.partition('/')[0]}+{repo}/{rest}"
        assert after[now] == before[path], name
    assert report.gone == []
    assert report.counts()["imported"] == 0
    assert links <= Link.objects.filter(project=project).count()

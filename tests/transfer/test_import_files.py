"""Files as they come: odd names, odd bytes, links, locks, sizes. Each is imported whole, or left out and said so."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from django.core.management import call_command

from decisions.models import Decision
from transfer.importing import folders
from transfer.importing.importer import Options, import_folder
from transfer.importing.report import FileLine, as_text

pytestmark = [pytest.mark.django_db, pytest.mark.database]

RECORD = "# Use {0}\n\n## Status\n\nAccepted\n\n## Context\n\nWe need {0}.\n\n## Decision\n\nTake {0}.\n"


def run(folder: Path, project, **options) -> dict[str, FileLine]:
    return {line.path: line for line in import_folder(folder, project, Options(**options)).files}


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (b"\xef\xbb\xbf" + RECORD.format("caf\u00e9").encode(), "Use caf\u00e9"),
        (RECORD.format("caf\u00e9").encode("cp1252"), "Use caf\u00e9"),
        (RECORD.format("caf\u00e9").encode("utf-16"), "Use caf\u00e9"),
        (RECORD.format("lines").replace("\n", "\r\n").encode(), "Use lines"),
        (RECORD.format("old lines").replace("\n", "\r").encode(), "Use old lines"),
        (RECORD.format("\U0001f600 smiles").encode(), "Use \U0001f600 smiles"),
        (RECORD.format("nul").replace("Take", "Take\x00").encode(), "Use nul"),
        (b"---\nstatus: [unclosed\ntitle: {x: *y\n---\n" + RECORD.format("broken yaml").encode(), "Use broken yaml"),
    ],
    ids=["bom", "windows-1252", "utf-16", "crlf", "cr", "beyond the bmp", "nul", "broken yaml"],
)  # fmt: skip
def test_odd_bytes_are_read_and_come_back_clean(tmp_path, project, data, title):
    (tmp_path / "0001-x.md").write_bytes(data)
    assert run(tmp_path, project)["0001-x.md"].outcome == "imported"
    decision = Decision.objects.get(project=project)
    assert decision.title == title
    assert "\r" not in decision.source_text
    assert "\x00" not in decision.source_text
    assert run(tmp_path, project)["0001-x.md"].outcome == "unchanged"


def test_what_was_odd_in_the_bytes_is_said(tmp_path, project):
    (tmp_path / "0001-x.md").write_bytes(RECORD.format("caf\u00e9").encode("cp1252"))
    assert run(tmp_path, project)["0001-x.md"].notes == ["not UTF-8; read as Windows-1252"]


def test_yaml_whose_aliases_explode_costs_nothing(tmp_path, project):
    layers = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 30))
    (tmp_path / "0001-x.md").write_text(f"---\nl0: &l0 [x]\n{layers}\n---\n{RECORD.format('bombs')}")
    assert run(tmp_path, project)["0001-x.md"].outcome == "imported"


def test_a_text_over_the_limit_fails_by_its_size_and_the_others_go_on(tmp_path, project):
    (tmp_path / "0001-huge.md").write_text(RECORD.format("much") + "More.\n" * 200_000)
    (tmp_path / "0002-small.md").write_text(RECORD.format("little"))
    lines = run(tmp_path, project)
    assert lines["0001-huge.md"].outcome == "failed"
    assert "at most 1048576 are kept, and nothing is cut silently" in lines["0001-huge.md"].why
    assert lines["0002-small.md"].outcome == "imported"
    assert Decision.objects.filter(project=project).count() == 1
    with pytest.raises(SystemExit) as ended:
        call_command("import_adrs", str(tmp_path), project="shop", no_wait=True)
    assert ended.value.code == 1


def test_a_text_just_below_the_limit_is_kept_whole(tmp_path, project):
    text = RECORD.format("much") + "More words.\n" * 87_000
    assert len(text) < 1024 * 1024
    (tmp_path / "0001-long.md").write_text(text)
    run(tmp_path, project)
    assert Decision.objects.get(project=project).source_text == text


def test_files_that_are_no_records_are_left_out_and_say_why(tmp_path, project, monkeypatch):
    monkeypatch.setattr(folders, "FILE_MAX_BYTES", 2 * 1024 * 1024)
    (tmp_path / "empty.md").write_bytes(b"")
    (tmp_path / "picture.md").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "data.txt").write_bytes(b"x" * (3 * 1024 * 1024))
    (tmp_path / "adr-template.md").write_text(RECORD.format("{title}"))
    (tmp_path / "README.md").write_text("# Decisions\n\n- [one](0001-x.md)\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    lines = run(tmp_path, project)
    assert {line.outcome for line in lines.values()} == {"left out"}
    assert lines["picture.md"].why == "binary, not text"
    assert "larger than any record" in lines["data.txt"].why
    assert lines["empty.md"].why.startswith("empty")
    assert lines["adr-template.md"].why.startswith("template")
    assert lines["README.md"].why.startswith("index")
    assert "picture.png" not in lines
    assert not Decision.objects.exists()


def test_links_are_not_followed_out_of_the_folder_nor_in_circles(tmp_path, project):
    inside, outside = tmp_path / "adr", tmp_path / "secret"
    inside.mkdir()
    outside.mkdir()
    (outside / "0009-secret.md").write_text(RECORD.format("secrets"))
    (inside / "0001-x.md").write_text(RECORD.format("this"))
    (inside / "out").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    (inside / "0002-out.md").symlink_to(outside / "0009-secret.md")
    (inside / "0003-self.md").symlink_to(inside / "0003-self.md")
    os.mkfifo(inside / "0004-pipe.md")
    lines = run(inside, project)
    assert lines.pop("0001-x.md").outcome == "imported"
    assert {path: line.why for path, line in lines.items()} == {
        "out": "a symbolic link: not followed",
        "loop": "a symbolic link: not followed",
        "0002-out.md": "a symbolic link: not followed",
        "0003-self.md": "a symbolic link: not followed",
        "0004-pipe.md": "not a regular file",
    }


def test_a_file_that_cannot_be_opened_fails_and_its_record_is_not_taken_for_gone(
    tmp_path, project, monkeypatch
):
    (tmp_path / "0001-x.md").write_text(RECORD.format("this"))
    run(tmp_path, project)

    def locked(path, flags):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(folders.os, "open", locked)
    report = import_folder(tmp_path, project, Options())
    assert (report.files[0].outcome, report.files[0].why) == ("failed", "cannot be read: Permission denied")
    assert report.gone == []
    assert report.failed


@pytest.mark.parametrize(
    "name",
    ["0001 with spaces.md", "0001-\u51b3\u7b56.md", "0001-e\u0301.md", "0001-a\nb.md", "0001-\x1b[31mred.md", "0001-%s{x}.md"],
)  # fmt: skip
def test_odd_file_names_are_kept_and_harmless_in_the_report(tmp_path, project, name):
    (tmp_path / name).write_text(RECORD.format("names"))
    report = import_folder(tmp_path, project, Options())
    assert report.files[0].outcome == "imported"
    assert Decision.objects.get(project=project).origin["path"] == name
    for line in as_text(report, all_references=True):
        assert "\n" not in line
        assert "\x1b" not in line
    assert import_folder(tmp_path, project, Options()).files[0].outcome == "unchanged"


def test_a_file_name_that_is_no_text_is_shown_by_its_bytes(tmp_path, project):
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/0001-\xff.md")).write_text(RECORD.format("bytes"))
    except OSError:
        pytest.skip("this file system keeps names as text")
    assert list(run(tmp_path, project)) == ["0001-\\xff.md"]
    assert run(tmp_path, project)["0001-\\xff.md"].outcome == "unchanged"


def test_a_long_title_is_shortened_and_said_and_whole_in_the_document(tmp_path, project):
    title = "Use " + "very " * 100 + "long titles"
    (tmp_path / "0001-x.md").write_text(RECORD.format("x").replace("# Use x", f"# {title}"))
    record = run(tmp_path, project)["0001-x.md"].records[0]
    decision = Decision.objects.get(project=project)
    assert len(decision.title) <= 255
    assert decision.title.endswith("very…")
    assert title in decision.source_text
    assert "shortened" in record.said[0]


def git(folder: Path, *words: str, day: str) -> None:
    moment = f"{day}T12:00:00+00:00"
    environment = {
        **os.environ,
        "GIT_AUTHOR_DATE": moment,
        "GIT_COMMITTER_DATE": moment,
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    command = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)


def test_git_dates_are_taken_only_when_asked_and_follow_renames(tmp_path, project):
    (tmp_path / "adr").mkdir()
    (tmp_path / "adr" / "0001-x.md").write_text(RECORD.format("this"))
    git(tmp_path, "init", "-q", day="2020-01-01")
    git(tmp_path, "add", ".", day="2020-01-01")
    git(tmp_path, "commit", "-q", "-m", "first", day="2020-01-02")
    git(tmp_path, "mv", "adr/0001-x.md", "adr/0002-x.md", day="2021-01-01")
    git(tmp_path, "commit", "-q", "-m", "second", day="2021-01-02")
    assert run(tmp_path / "adr", project)["0002-x.md"].records[0].decided_on == ""
    lines = run(tmp_path / "adr", project, git_dates=True)
    assert lines["0002-x.md"].records[0].decided_on == "2020-01-02"
    assert Decision.objects.get(project=project).origin["date_source"] == "git: first commit"


def test_no_repository_is_said_and_harms_nothing(tmp_path, project, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "0001-x.md").write_text(RECORD.format("this"))
    report = import_folder(tmp_path, project, Options(git_dates=True))
    assert report.files[0].outcome == "imported"
    assert report.notes[0].startswith("no dates from git: ")

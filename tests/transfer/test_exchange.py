"""A project leaves as JSON lines and arrives whole: history, links, people's names; ids kept or consistently changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection

from decisions.actions import contradict, create_decision, edit_decision
from decisions.models import Decision, Outcome
from patterns.actions import create_pattern
from patterns.models import Evidence
from pitfalls.models import Encounter
from projects.models import Project, User
from records import attention, verbs
from records.actor import Actor
from records.erasing import erase
from records.errors import Refused
from records.kinds import all_kinds
from records.links import link
from records.merging import merge
from records.models import Attention, Erasure, Link, ProjectionMark, Read, RecordFinding, RecordTag, Revision
from records.sweep import sweep
from runs.models import Memory, PayloadValue
from tests.conftest import person
from tests.transfer.test_backup import fill
from transfer.exchange import reading
from transfer.exchange.lines import FileProblem
from transfer.exchange.reading import import_file
from transfer.exchange.writing import project_sums, write_project
from transfer.models import Arrival
from work_sessions.models import WorkSession

pytestmark = [pytest.mark.django_db, pytest.mark.database]
COMMAND = Actor.command("test")
KEPT_FILE = Path(__file__).parent / "project.jsonl"


@pytest.fixture
def lived_in(project, curator, agent):
    """A project with all that an export holds: also a person's review, a deletion by SQL, an odd row, a read."""
    fill(project)
    first, second = Decision.objects.order_by("pk")
    verbs.review([first], "approved", actor=curator)
    edit_decision(actor=curator, decision=second, changes={"rationale": "Because."}, reason="asked")
    contradict(actor=agent, decision=first, other=second, reason="both cannot hold")
    gone = create_decision(actor=agent, project=project, title="Gone", decision="x")
    with connection.cursor() as cursor:
        for table in ("record_tags", "architecture_decisions"):
            key = "node_id = %s" if table == "record_tags" else "id = %s"
            cursor.execute(f"DELETE FROM {table} WHERE {key}", [gone.node_id if "node" in key else gone.pk])
        cursor.execute(
            "INSERT INTO architecture_decisions (project_id, title, decision, tags) VALUES (%s, 'odd', 'x', %s)",
            [project.pk, '{"a": 1}'],
        )
    sweep()
    Read.objects.create(node_id=first.node_id, project_id=project.pk, agent_name="order-bot", door="api")
    return project


def empty_the_desk():
    """As if it were another one."""
    with connection.cursor() as cursor:
        if connection.vendor == "mysql":
            cursor.execute("SET FOREIGN_KEY_CHECKS = 0")
        for model in apps.get_models(include_auto_created=True):
            if model._meta.app_label not in ("contenttypes", "auth"):
                cursor.execute(f"DELETE FROM {connection.ops.quote_name(model._meta.db_table)}")
        if connection.vendor == "mysql":
            cursor.execute("SET FOREIGN_KEY_CHECKS = 1")


def test_an_erased_record_leaves_and_arrives_as_a_tombstone(lived_in, admin_user, tmp_path):
    secret = "Nobody may read this sentence"
    record = create_decision(actor=person(admin_user), project=lived_in, title=secret, decision=secret)
    erase([record], actor=person(admin_user), reason="It was asked for.")
    write_project(lived_in, tmp_path / "p.jsonl", reads=True)
    assert secret not in (tmp_path / "p.jsonl").read_text()
    empty_the_desk()
    report = import_file(tmp_path / "p.jsonl")
    assert report.verified
    tomb = Erasure.objects.get(node_id=record.node_id)
    assert (tomb.reason, tomb.actor_name, tomb.project) == ("It was asked for.", "ada", report.project)
    assert ProjectionMark.objects.get(node_id=record.node_id).erased
    with pytest.raises(Refused, match="erased for good"):
        verbs.restore([Decision.objects.get(pk=record.pk)], actor=COMMAND)
    assert sweep() == 0


def history():
    return [
        (row.node_id, row.version, row.verb, row.actor_name, row.after, row.detail, row.created_at)
        for row in Revision.objects.order_by("pk")
    ]


def all_counts():
    models = [*(kind.model for kind in all_kinds()), Revision, Link, Evidence, Encounter, ProjectionMark, Read, RecordTag,
              PayloadValue, User, Project]  # fmt: skip
    return {model.__name__: model.objects.count() for model in models}


def test_an_empty_desk_ends_with_equal_checksums_history_included(lived_in, tmp_path):
    path = tmp_path / "shop.jsonl"
    sums = write_project(lived_in, path, reads=True)
    before, told, kept = all_counts(), history(), project_sums(lived_in).checksums
    assert sums.checksums == kept
    assert sorted(kept) == ["encounter", "evidence", "gone", "link", "read", "record", "revision"]
    empty_the_desk()
    report = import_file(path)
    assert (report.verified, report.renamed) == (True, [])
    assert (report.project.slug, report.project.name, report.project.pk) == ("shop", "Shop", lived_in.pk)
    assert project_sums(report.project).checksums == kept
    after = history()
    reviewed = {row[4].pop("reviewed_by_id") for rows in (told, after) for row in rows if row[4]}
    assert (len(reviewed), after) == (3, told)  # the same person has another number here
    now = all_counts()
    assert now | {"User": 0} == before | {"User": 0, "Project": 1}
    cleo = User.objects.get()
    assert (cleo.username, cleo.is_active, cleo.has_usable_password()) == ("cleo", False, False)
    assert Decision.objects.get(reviewed_by=cleo).review_state == "approved"
    assert not ProjectionMark.objects.filter(
        next_try_at=None, gone=False
    ).exists()  # all of it will be embedded
    again = import_file(path)
    assert (sum(again.brought.values()), all_counts()) == (0, now)
    assert sweep() == 0  # nothing looks as if plain SQL had written it


def test_a_copy_beside_it_has_other_ids_in_every_reference(lived_in, agent, curator, tmp_path):
    path = tmp_path / "shop.jsonl"
    read = Read.objects.get()
    attention.count_reads({read.node_id: 1}, read.read_at)
    kept, away = (create_pattern(actor=agent, project=lived_in, category="c", name=name) for name in "AB")
    link(away, "RELATES_TO", Decision.objects.first(), actor=curator, reason="both")
    merge(kept, [away], actor=curator)
    write_project(lived_in, path, reads=True)
    before, told = all_counts(), history()
    report = import_file(path, "copy")
    copy = report.project
    assert (copy.slug, report.verified, len(report.renamed)) == ("copy", None, len(report.renamed))
    new = dict(report.renamed)
    assert all(new[node_id] != node_id for node_id in new)
    assert len(new) == before["Decision"] + 1 + sum(before[name] for name in ("Outcome", "Pattern", "Pitfall", "Run", "Memory", "WorkSession"))  # fmt: skip
    there, here = Outcome.objects.get(project=lived_in), Outcome.objects.get(project=copy)
    assert here.decision.node_id == new[there.decision.node_id]
    memory = Memory.objects.get(project=copy)
    assert memory.source_run_fk.project == copy
    ends = {(new[link.source], new[link.target]) for link in Link.objects.filter(project=lived_in)}
    assert {tuple(sorted(pair)) for pair in ends} == {
        tuple(sorted(pair)) for pair in Link.objects.filter(project=copy).values_list("source", "target")
    }
    for old, node_id in report.renamed:
        was = Revision.objects.filter(node_id=old).order_by("pk")
        now = Revision.objects.filter(node_id=node_id).order_by("pk")
        assert [row.verb for row in was] == [row.verb for row in now]
        for one, other in zip(was, now, strict=True):
            if (one.detail or {}).get("source"):
                assert (other.detail["source"], other.detail["target"]) == (
                    new[one.detail["source"]],
                    new[one.detail["target"]],
                )
            if other.after:
                assert other.after["project_id"] == copy.pk
            if other.after and "decision_id" in other.after:
                assert other.after["decision_id"] == here.decision_id
    merges = Revision.objects.filter(verb="merge", version=None)
    moved, moved_here = (merges.get(project=one).detail["moved"] for one in (lived_in, copy))
    assert list(moved_here) == [new[node_id] for node_id in moved] != []
    for old, node_id in report.renamed:  # what it asks of people there, it asks here
        asked = [Attention.objects.filter(node_id=one).first() for one in (old, node_id)]
        if asked[0] is None:
            assert asked[1] is None
            continue
        asks = [(row.standing, row.risk, row.read_count, row.last_read_at, len(row.why)) for row in asked]
        assert asks[0] == asks[1]
        acts = Revision.objects.filter(node_id=node_id).values_list("created_at", flat=True)
        assert asked[1].touched_at == max(filter(None, [*acts, asked[1].last_read_at]))
    assert WorkSession.objects.get(project=copy).session_id == "ses-1#2"
    assert Revision.objects.get(kind="session", project=copy).after["session_id"] == "ses-1#2"
    assert [row for row in history() if row[0] not in new.values()] == told  # the original is as it was
    now = all_counts()
    again = import_file(path, "copy")
    assert (sum(again.brought.values()), all_counts()) == (0, now)
    own = import_file(path)  # into the very project: all of it is there
    assert (sum(own.brought.values()), all_counts()) == (0, now)
    assert sweep() == 0


def test_a_run_that_is_stopped_goes_on_and_ends_alike(lived_in, tmp_path, monkeypatch):
    path = tmp_path / "shop.jsonl"
    kept = write_project(lived_in, path, reads=True).checksums
    before = all_counts()
    empty_the_desk()
    monkeypatch.setattr(reading, "LINES_A_BATCH", 2)
    write, stops_at = reading._Import._write, [3]

    def stops(self, batch):
        stops_at[0] -= 1
        if stops_at[0] == 0:
            raise KeyboardInterrupt
        write(self, batch)

    monkeypatch.setattr(reading._Import, "_write", stops)
    for more in (9, 6, 4, 5):
        with pytest.raises(KeyboardInterrupt):
            import_file(path)
        stops_at[0] = more
    stops_at[0] = -1
    report = import_file(path)
    assert (report.verified, project_sums(report.project).checksums) == (True, kept)
    assert all_counts() | {"User": 0} == before | {"User": 0, "Project": 1}


def test_a_file_of_another_database_has_the_checksums_that_it_says(db):
    """The file was exported from SQLite; MySQL and MariaDB must hold all of it as exactly."""
    report = import_file(KEPT_FILE)
    assert (report.verified, report.renamed, Project.objects.get().slug) == (True, [], "shop")
    assert RecordTag.objects.filter(tag="a").exists()
    assert PayloadValue.objects.filter(path="host", value="db-2").exists()


def change(path, number, **said):
    lines = path.read_text().splitlines()
    line = json.loads(lines[number - 1])
    for name, value in said.items():
        part, _, inner = name.partition("__")
        if inner:
            line[part][inner] = value
        else:
            line[part] = value
    lines[number - 1] = json.dumps(line)
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file.jsonl"
    path.write_text(KEPT_FILE.read_text())
    return path


def line_of(path, **wanted):
    for number, text in enumerate(path.read_text().splitlines(), 1):
        line = json.loads(text)
        if all(
            line.get(name) == value or str(line.get(name)).startswith(str(value))
            for name, value in wanted.items()
        ):
            return number
    raise AssertionError(wanted)


@pytest.mark.parametrize(
    ("where", "changed", "said"),
    [
        ({"id": "dec_"}, {"fields__status": "maybe"}, "fields.status: Must be one of"),
        ({"id": "dec_"}, {"fields__title": 7}, "fields.title: Must be text"),
        ({"id": "dec_"}, {"fields__title": "x" * 300}, "fields.title: Has 300 characters"),
        ({"id": "dec_"}, {"fields__title": None}, "fields.title: is missing"),
        ({"id": "dec_"}, {"fields__trust": "high"}, "fields.trust: "),
        ({"id": "dec_"}, {"fields__created_at": "yesterday"}, "fields.created_at: "),
        ({"id": "dec_"}, {"fields__created_at": "2025-01-01T00:00:00"}, "fields.created_at: Is a time without a zone"),
        ({"id": "dec_"}, {"fields__colour": "red"}, "fields.colour: there is no such column"),
        ({"id": "dec_"}, {"id": "doc_1"}, "id: 'doc_1' names no record"),
        ({"id": "dec_"}, {"fields": 7}, "fields: is no object"),
        ({"id": "out_"}, {"fields__decision": "dec_999"}, "fields.decision: 'dec_999' is not in the file"),
        ({"id": "out_"}, {"fields__success_rate": 7}, "fields.success_rate: "),
        ({"type": "evidence"}, {"of": "dec_1"}, "of: must name"),
        ({"type": "link"}, {"fields__target": "dec_998"}, "fields.target: 'dec_998' is not in the file"),
        ({"type": "revision"}, {"fields__node_id": "dec_998"}, "fields.node_id: 'dec_998'"),
        ({"type": "revision"}, {"fields__kind": "nothing"}, "fields.kind: 'nothing' is not the kind of"),
        ({"type": "link"}, {"fields__target": "dec_1", "fields__source": "dec_1"}, "fields.target: is the source itself"),
        ({"id": "dec_"}, {"fields__trust": 3}, "fields.trust: Must lie between 0 and 1"),
        ({"id": "pit_"}, {"fields__encountered_count": -3}, "fields.encountered_count: Must lie between 0"),
        ({"type": "revision"}, {"type": "revisoin"}, "type: 'revisoin' is unknown"),
        ({"type": "header"}, {"version": 2}, "version 2 of its format"),
        ({"type": "header"}, {"format": "other"}, "is not the header"),
        ({"type": "end"}, {"counts": {}}, "counts or checksums"),
        ({"id": "pit_"}, {"fields__title": "Changed"}, "counts or checksums"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_line_and_field_and_nothing_is_written(file, where, changed, said):
    number = line_of(file, **where)
    change(file, number, **changed)
    with pytest.raises(CommandError) as refused:
        call_command("import_jsonl", str(file))
    assert said in str(refused.value)
    assert ("line " if "checksums" in said else f"line {number}: ") in str(refused.value)
    assert not Project.objects.exists()
    assert not Decision.objects.exists()
    assert not Arrival.objects.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"{", "line 1: is no JSON"),
        (b"[]\n", "line 1: is no JSON object"),
        (b"\xff\n", "line 1: is no JSON"),
        (b'{"type": "header", "x": NaN}\n', "NaN is no number"),
        (b'{"type": "header"}\n', "is not the header"),
    ],
)
def test_what_is_no_export_is_one_line(tmp_path, content, said):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(CommandError, match=said):
        call_command("import_jsonl", str(path))


def test_a_file_that_is_cut_off_is_refused(file):
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(CommandError, match="has no end: it is cut off"):
        call_command("import_jsonl", str(file))
    file.write_bytes(KEPT_FILE.read_bytes()[:-40])
    with pytest.raises(CommandError, match="ends in the middle"):
        call_command("import_jsonl", str(file))
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_jsonl", str(file.with_name("nowhere")))


def test_texts_of_the_greatest_size_travel_with_their_history(project, agent, tmp_path):
    text = "ß" * (512 * 1024)
    create_decision(actor=agent, project=project, title="Book", decision=text, rationale=text)
    write_project(project, tmp_path / "x", reads=True)
    empty_the_desk()
    assert import_file(tmp_path / "x").verified
    assert Decision.objects.get().rationale == text


def test_another_project_of_the_name_is_not_mixed_with_it_unless_told(file, project):
    with pytest.raises(CommandError, match="There is a project shop here already"):
        call_command("import_jsonl", str(file))
    assert import_file(file, "shop").project == project


def test_an_export_that_cannot_be_written_leaves_nothing(project, tmp_path, monkeypatch):
    with pytest.raises(CommandError, match="There is no project 'nowhere'"):
        call_command("export", str(tmp_path / "x"), project="nowhere")
    with pytest.raises(CommandError, match="No such file or directory"):
        call_command("export", str(tmp_path / "nowhere" / "x"), project="shop")

    def fails(*args, **kwargs):
        yield {"type": "gone", "id": "dec_1"}
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("transfer.exchange.writing.project_lines", fails)
    with pytest.raises(FileProblem, match=r"No space left on device\. Nothing was kept"):
        write_project(project, tmp_path / "x", reads=True)
    assert list(tmp_path.iterdir()) == []


def test_the_commands_say_what_they_did(lived_in, tmp_path, capsys):
    path = str(tmp_path / "shop.jsonl")
    call_command("export", path, project="shop", without_reads=True)
    assert "of type revision" in capsys.readouterr().out
    empty_the_desk()
    call_command("import_jsonl", path, no_wait=True)
    said = capsys.readouterr().out
    assert "Checksums of the project here are those of the file." in said
    assert "The account cleo was made, inactive" in said


def test_secrets_that_came_past_the_door_travel_and_are_listed(project, tmp_path):
    secret = "ghp_" + "aB3" * 12
    with connection.cursor() as cursor:
        for text in (f"The token is {secret}.", "Nothing here."):
            cursor.execute(
                "INSERT INTO architecture_decisions (project_id, title, decision) VALUES (%s, 'T', %s)",
                [project.pk, text],
            )
    sweep()
    held = Decision.objects.get(decision__contains="token").node_id
    path = tmp_path / "shop.jsonl"
    write_project(project, path, reads=True)
    empty_the_desk()
    report = import_file(path)
    assert report.verified
    (said,) = [note for note in report.notes if "secret" in note]
    assert said.startswith(f"1 record holds what looks like a secret, kept as it came: {held}.")
    assert secret not in said
    assert [(one.code, one.excerpt) for one in RecordFinding.objects.all()] == [("secret", "GitHub token")]

"""Adopting plain MySQL tables: what is kept, what is told, what a second run does, and that the source stays as it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from decisions.kind import DECISION
from decisions.models import Decision
from patterns.models import Evidence, Pattern
from pitfalls.models import Pitfall
from projects.models import Project
from records import verbs
from records.actor import Actor
from records.kinds import all_kinds
from records.models import ProjectionMark, RecordTag, Revision
from tests.transfer.plain_world import START
from transfer.adopt import source as source_module
from transfer.adopt.adoption import Options, adopt
from transfer.adopt.report import Report
from transfer.adopt.source import Source, SourceProblem
from transfer.adopt.writer import Writer
from work_sessions.models import WorkSession

pytestmark = [pytest.mark.django_db, pytest.mark.database]
ACTOR_OF_TESTS = Actor.command("test")


def bring(source, **options):
    """(report, problems as text) of one run."""
    problems: list[str] = []
    options.setdefault("zone", "UTC")
    report = adopt(Options(source.url, **options), say_problem=lambda problem: problems.append(str(problem)))
    return report, problems


def counts():
    return {
        **{kind.name: kind.model.objects.count() for kind in all_kinds()},
        "revisions": Revision.objects.count(),
        "marks": ProjectionMark.objects.count(),
        "evidence": Evidence.objects.count(),
        "tags": RecordTag.objects.count(),
        "projects": Project.objects.count(),
        "wanted": sum(ProjectionMark.objects.values_list("wanted_version", flat=True)),
    }


def adopted(source, oddity, model):
    return model.objects.get(pk=source.ids[oddity])


def test_every_row_is_here_with_its_id_time_history_and_mark(odd_source):
    report, problems = bring(odd_source)
    lines = report.lines
    assert [lines[table].there for table in lines] == [51, 24, 25, 22]
    assert [lines[table].after for table in lines] == [50, 24, 25, 22]
    assert [line.left_out for line in lines.values()] == [1, 0, 0, 0]
    first = Decision.objects.get(pk=1)
    assert (first.title, first.alternatives_considered) == (
        "Decision 0: queue for order events 🚀",
        "Cron, café",
    )
    assert (first.status, first.decided_at, first.sort_at) == (
        "accepted",
        START.replace(tzinfo=UTC),
        first.decided_at,
    )
    assert (first.project_id, first.project.slug, first.tags) == (1, "project-1", ["queue", "kind-0"])
    assert (first.trust, first.source_kind, first.review_state, first.version) == (
        0.6,
        "import",
        "unreviewed",
        1,
    )
    pattern = Pattern.objects.get(pk=3)
    assert (pattern.created_at, pattern.updated_at - pattern.created_at) == (
        START.replace(tzinfo=UTC) + timedelta(hours=2), timedelta(hours=5),
    )  # fmt: skip
    assert Revision.objects.count() == ProjectionMark.objects.count() == 121
    assert set(Revision.objects.values_list("verb", "channel", "actor_name", "version")) == {
        ("create", "import", "adopt", 1)
    }
    assert Evidence.objects.filter(cause="start").count() == 24
    assert RecordTag.objects.filter(node_id="dec_1").count() == 2
    assert len(problems) == sum(report.problems.values()) > 15


def test_odd_values_are_read_as_far_as_they_go_and_told(odd_source):
    _, problems = bring(odd_source)
    told = {problem.split(":")[0] for problem in problems}

    def is_told(oddity, table, field):
        return f"{table} {odd_source.ids[oddity]}.{field}" in told

    assert adopted(odd_source, "zero date", Decision).decided_at is None
    assert is_told("zero date", "architecture_decisions", "decided_at")
    none = adopted(odd_source, "no date", Decision)
    assert (none.decided_at, none.status, none.sort_at) == (None, "accepted", none.created_at)
    assert adopted(odd_source, "no project", Decision).project.slug == "without-a-project"
    assert len(adopted(odd_source, "long title", Decision).title) == 255
    assert len(adopted(odd_source, "long text", Decision).decision.encode()) == 1024 * 1024
    assert is_told("long text", "architecture_decisions", "decision")
    words = adopted(odd_source, "status in other words", Decision)
    assert (words.status, words.status_written) == ("accepted", "Approved")
    unknown = adopted(odd_source, "unknown status", Decision)
    assert (unknown.status, unknown.status_written) == ("pending", "zorp")
    assert is_told("unknown status", "architecture_decisions", "status")
    assert adopted(odd_source, "words for tags", Decision).tags == ["redis", "cache"]
    assert adopted(odd_source, "odd tags", Decision).tags is None
    assert not Decision.objects.filter(pk=odd_source.ids["empty"]).exists()
    assert adopted(odd_source, "no title", Decision).title == "Say it in the text."
    assert adopted(odd_source, "float", Pattern).confidence_score == 0.9
    assert adopted(odd_source, "precise float", Pattern).confidence_score == 0.1234567
    out_of_range = adopted(odd_source, "out of range", Pattern)
    assert (out_of_range.confidence_score, out_of_range.prior_confidence, out_of_range.usage_count) == (
        0.5,
        0.5,
        0,
    )
    assert adopted(odd_source, "many uses", Pattern).usage_count == 2**31 - 1
    assert adopted(odd_source, "duplicate", WorkSession).session_id == "ses-0#2"
    assert adopted(odd_source, "no session id", WorkSession).session_id.startswith("session-")
    emoji = adopted(odd_source, "emoji", WorkSession)
    assert (emoji.session_id, emoji.context) == ("ses-🐛", "{broken")
    assert len(adopted(odd_source, "long session id", WorkSession).session_id) < 256
    assert WorkSession.objects.get(session_id="ses-nul").summary == "a\ufffdb"
    assert adopted(odd_source, "no severity", Pitfall).severity == "medium"
    bad = adopted(odd_source, "bad severity", Pitfall)
    assert (bad.severity, bad.category, bad.project_id) == ("medium", "uncategorised", 99)
    detail = Revision.objects.get(node_id=out_of_range.node_id).detail["adopted"]
    assert detail["as_written"]["confidence_score"] == "85"


def test_a_second_run_changes_nothing_and_the_source_is_as_it_was(odd_source):
    before_source = odd_source.checksums()
    bring(odd_source)
    before = counts()
    report, problems = bring(odd_source)
    assert (report.adopted, counts()) == (0, before)
    assert [line.already for line in report.lines.values()] == [50, 24, 25, 22]
    assert [problem for problem in problems if "left out" not in problem] == []
    assert odd_source.checksums() == before_source


def test_the_source_cannot_be_written_through_its_connection(odd_source):
    source = Source(odd_source.url)
    with pytest.raises(SourceProblem, match=r"(?i)read.only"):
        source.ask("UPDATE pitfalls SET title = 'x'")
    source.ask("COMMIT")  # not the transaction alone: the whole session
    with pytest.raises(SourceProblem, match=r"(?i)read.only"):
        source.ask("DELETE FROM pitfalls")
    source.close()


def test_a_run_that_stops_in_the_middle_goes_on_and_ends_alike(odd_source, monkeypatch):
    monkeypatch.setattr(source_module, "ROWS_A_BATCH", 7)
    write, calls = Writer._write, []

    def stops(self, *args):
        calls.append(1)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return write(self, *args)

    monkeypatch.setattr(Writer, "_write", stops)
    with pytest.raises(KeyboardInterrupt):
        bring(odd_source)
    assert 0 < Decision.objects.count() + Pattern.objects.count() < 74
    report, _ = bring(odd_source)
    assert [line.after for line in report.lines.values()] == [50, 24, 25, 22]
    assert Revision.objects.count() == ProjectionMark.objects.count() == 121
    assert set(Decision.objects.values_list("pk", flat=True)) == set(range(1, 52)) - {odd_source.ids["empty"]}


def test_a_batch_with_a_row_that_the_database_refuses_goes_on_without_it(odd_source, monkeypatch):
    from django.db import IntegrityError

    from transfer.adopt import writer as writer_module

    bring_in = writer_module.bring_in

    def refuses(kind, instances, **options):
        if any(getattr(instance, "title", "").startswith("Decision 5:") for instance in instances):
            raise IntegrityError(1, "no")
        return bring_in(kind, instances, **options)

    monkeypatch.setattr(writer_module, "bring_in", refuses)
    report, problems = bring(odd_source)
    assert (
        report.lines["architecture_decisions"].adopted,
        report.lines["architecture_decisions"].left_out,
    ) == (49, 2)
    assert any("architecture_decisions 6: left out" in problem for problem in problems)


def test_a_taken_id_gets_a_new_one_beyond_all_others_and_is_told(odd_source):
    shop = Project.objects.create(pk=2, name="Shop", slug="shop")
    row = {"id": 5, "title": "Mine", "decision": "x"}
    verbs.create(DECISION, [row], actor=ACTOR_OF_TESTS, project=shop)
    report, problems = bring(odd_source, mapped={"1": "shop"})
    assert Decision.objects.get(pk=5).title == "Mine"
    (renamed,) = Decision.objects.filter(title__startswith="Decision 4:")
    assert renamed.pk > 51
    assert any(f"dec_5 is taken here: it is dec_{renamed.pk}" in problem for problem in problems)
    assert report.lines["architecture_decisions"].renamed == 1
    assert Project.objects.get(slug="project-2").pk > 99  # 2 is the shop's
    assert Decision.objects.filter(project=shop).count() > 10
    assert adopt(Options(odd_source.url, zone="UTC", mapped={"1": "shop"})).adopted == 0


def test_another_map_than_before_is_refused(odd_source):
    bring(odd_source)
    with pytest.raises(CommandError, match="was adopted into project-1 before"):
        call_command("adopt", mysql=odd_source.url, map=["1=other"], time_zone="UTC")


def test_times_are_read_in_the_sources_zone_and_stamps_are_utc(plain_source):
    plain_source.run(
        "SET time_zone = '+00:00'",
        "INSERT INTO architecture_decisions (title, decision, decided_at) VALUES ('w', 'x', '2024-01-15 12:00:00'),"
        " ('s', 'x', '2024-07-15 12:00:00')",
        "INSERT INTO code_patterns (category, name, created_at) VALUES ('c', 'p', '2024-07-15 12:00:00')",
    )
    bring(plain_source, zone="Europe/Berlin")
    assert list(Decision.objects.order_by("decided_at").values_list("decided_at", flat=True)) == [
        datetime(2024, 1, 15, 11, tzinfo=UTC), datetime(2024, 7, 15, 10, tzinfo=UTC),
    ]  # fmt: skip
    assert Pattern.objects.get().created_at == datetime(2024, 7, 15, 12, tzinfo=UTC)


@pytest.mark.zone
def test_the_servers_own_zone_is_used_where_none_is_named(plain_source):
    plain_source.run(
        "INSERT INTO pitfalls (title, category) VALUES ('now', 'c')"
    )  # DEFAULT CURRENT_TIMESTAMP
    report, _ = bring(plain_source, zone=None)
    assert abs(Pitfall.objects.get().created_at - datetime.now(UTC)) < timedelta(minutes=1), report.notes


def test_missing_tables_and_columns_are_said_and_what_changed_there_is_counted(plain_source):
    plain_source.run(
        "DROP TABLE work_sessions",
        "ALTER TABLE pitfalls DROP COLUMN how_to_avoid, DROP COLUMN created_at",
        "INSERT INTO pitfalls (title, category) VALUES ('a', 'c')",
        "ALTER TABLE code_patterns DROP COLUMN id",
        "INSERT INTO code_patterns (category, name) VALUES ('c', 'p')",
    )
    report, problems = bring(plain_source)
    assert "work_sessions: there is no such table in the source." in report.notes
    assert Pitfall.objects.get().how_to_avoid is None
    assert report.lines["code_patterns"].left_out == 1
    assert any("no such column of whole numbers" in problem for problem in problems)
    plain_source.run("UPDATE pitfalls SET title = 'b'")
    report, _ = bring(plain_source)
    assert (report.lines["pitfalls"].changed_there, Pitfall.objects.get().title) == (1, "a")


def test_columns_of_other_types_are_read_for_what_they_are(plain_source):
    plain_source.run(
        "ALTER TABLE architecture_decisions MODIFY decided_at DATE, MODIFY tags JSON,"
        " MODIFY status ENUM('accepted', 'rejected', 'pending') DEFAULT 'accepted'",
        "INSERT INTO architecture_decisions (project_id, title, decision, decided_at, tags, status)"
        " VALUES (1, 'a', 'x', '2024-02-29', '[\"a\", 7]', 'rejected')",
        "ALTER TABLE work_sessions MODIFY context JSON",
        """INSERT INTO work_sessions (session_id, context) VALUES ('s', '{"b": [1.5, null, "é🚀"]}')""",
        "ALTER TABLE pitfalls MODIFY id VARCHAR(36)",
        "INSERT INTO pitfalls (id, title, category) VALUES ('x-1', 'a', 'c')",
        "ALTER TABLE code_patterns MODIFY confidence_score DECIMAL(5,4), MODIFY id BIGINT UNSIGNED",
        "INSERT INTO code_patterns (id, name, category, confidence_score) VALUES (5000000000, 'a', 'c', 0.8750)",
    )
    report, problems = bring(plain_source, zone="Asia/Tokyo")
    decision = Decision.objects.get()
    assert (decision.status, decision.tags, decision.decided_precision) == ("rejected", ["a", "7"], "day")
    assert decision.decided_at == datetime(2024, 2, 29, tzinfo=UTC)  # a day is a day in every zone
    assert WorkSession.objects.get().context == {"b": [1.5, None, "é🚀"]}
    assert report.lines["pitfalls"].left_out == 1
    pattern = Pattern.objects.get()
    assert (pattern.confidence_score, pattern.pk < 2**31) == (0.875, True)
    told = [problem for problem in problems if "pitfalls" not in problem]
    assert told == [
        f"code_patterns 5000000000.id: is none that a record here can have: it is pat_{pattern.pk}"
    ]


def test_bytes_that_are_no_text_are_shown_as_such_and_told(plain_source):
    plain_source.run(
        "ALTER TABLE pitfalls MODIFY description BLOB",
        "INSERT INTO pitfalls (title, category, description) VALUES ('a', 'c', X'6661C3A7FFE9')",
    )
    _, problems = bring(plain_source)
    assert Pitfall.objects.get().description == "faç\ufffd\ufffd"
    assert any("is no UTF-8" in problem for problem in problems)


def test_the_pure_python_driver_reads_the_same(odd_source, monkeypatch):
    bring(odd_source)
    before = counts()
    monkeypatch.setattr(source_module, "DRIVERS", ("pymysql",))
    report, _ = bring(odd_source)
    assert (report.adopted, counts()) == (0, before)
    assert all(line.changed_there == 0 for line in report.lines.values())  # every value reads the same


def test_without_a_driver_it_says_what_to_install(odd_source, monkeypatch):
    monkeypatch.setattr(source_module, "DRIVERS", ("no_such_driver",))
    with pytest.raises(CommandError, match="pip install pymysql"):
        call_command("adopt", mysql=odd_source.url)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///x", "must look like"),
        ("mysql://u:p@127.0.0.1/", "must look like"),
        ("mysql://u:secret@127.0.0.1:9/x", "cannot be opened"),
    ],
)
def test_a_source_that_cannot_be_opened_is_one_line_without_the_password(url, said):
    with pytest.raises(CommandError, match=said) as refused:
        call_command("adopt", mysql=url)
    assert "secret" not in str(refused.value)


def test_the_desks_own_database_is_refused():
    if connection.vendor != "mysql":
        pytest.skip("the desk is not on MySQL")
    kept = connection.settings_dict
    url = f"mysql://{kept['USER']}:{kept['PASSWORD']}@{kept['HOST']}:{kept['PORT']}/{kept['NAME']}"
    with pytest.raises(CommandError, match="is the desk's own database"):
        call_command("adopt", mysql=url)


def test_another_desk_is_refused_as_a_source(plain_source):
    plain_source.run(
        "CREATE TABLE django_migrations (id INT PRIMARY KEY)",
        "CREATE TABLE projection_marks (id INT PRIMARY KEY)",
    )
    with pytest.raises(CommandError, match="backup and restore"):
        call_command("adopt", mysql=plain_source.url)


def test_the_command_prints_the_table_and_what_is_left_out_makes_it_fail(odd_source, capsys):
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("adopt", mysql=odd_source.url, time_zone="UTC", no_wait=True, stdout=out)
    assert ended.value.code == 1
    text = out.getvalue()
    assert "left out: has no title" in text
    assert f"{'architecture_decisions':24}{51:10,}{0:10,}{50:10,}{0:10,}{1:10,}{50:10,}" in text
    assert "desk:desk" not in text


@pytest.mark.parametrize("pair", ["shop", "x=shop", "1=", "1=Not A Slug"])
def test_a_map_that_cannot_be_right_is_one_line(odd_source, pair):
    with pytest.raises(CommandError, match="--map"):
        call_command("adopt", mysql=odd_source.url, map=[pair], time_zone="UTC")


def test_the_report_lists_what_looks_like_a_secret():
    said = "\n".join(Report(secrets={"dec_7", "dec_12"}).as_text())
    assert "2 records hold what looks like a secret, kept as it came: dec_12, dec_7." in said
    assert "secret" not in "\n".join(Report().as_text())

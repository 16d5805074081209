"""What plain-SQL writers may do to a row without blinding the sweep, losing history or breaking a later act."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DataError, connection
from django.utils import timezone

from decisions.actions import edit_decision
from decisions.models import Decision
from records import sweep as module
from records.models import ProjectionMark, RecordTag, Revision, SweepWatermark
from records.sweep import sweep
from tests.records.samples import make, write_as_sql

pytestmark = [pytest.mark.database, pytest.mark.zone, pytest.mark.django_db]


def insert(project, title="By SQL", **columns) -> int:
    columns = {"project_id": project.pk, "title": title, "decision": "D", **columns}
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO architecture_decisions ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(columns))})",
            list(columns.values()),
        )
        return cursor.lastrowid


def remove(key: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM architecture_decisions WHERE id = %s", [key])


def verbs_of(node_id: str) -> list[tuple[str, int | None]]:
    return list(Revision.objects.filter(node_id=node_id).order_by("id").values_list("verb", "version"))


def let_time_pass() -> None:
    """So that the rare parts of the sweep are due again."""
    SweepWatermark.objects.update(missing_checked_at=None)


def test_a_row_dated_in_the_future_hides_no_later_one(project):
    insert(project, row_changed_at=datetime(2037, 1, 1))
    assert sweep() == 1
    insert(project)
    assert sweep() == 1
    assert sweep() == 0


def test_a_row_that_brings_an_old_time_along_is_found(project):
    insert(project)
    assert sweep() == 1
    key = insert(project, "From a dump", row_changed_at=datetime(2020, 1, 1))
    let_time_pass()
    assert sweep() == 1
    assert verbs_of(f"dec_{key}") == [("create", 1)]
    assert ProjectionMark.objects.filter(node_id=f"dec_{key}", gone=False).exists()


def test_a_row_that_was_replaced_keeps_its_history_and_gets_a_new_version(agent, project):
    record = make("decision", agent, project)
    edit_decision(actor=agent, decision=record, changes={"title": "Second"})
    with connection.cursor() as cursor:
        cursor.execute(
            "REPLACE INTO architecture_decisions (id, project_id, title, decision) VALUES (%s, %s, 'Replaced', 'D')",
            [record.pk, project.pk],
        )
    assert sweep() == 1
    assert verbs_of(record.node_id) == [("create", 1), ("edit", 2), ("edit", 3)]
    assert Decision.objects.get(pk=record.pk).version == 3


def test_a_version_that_was_set_back_is_put_right_before_the_next_act(agent, project):
    record = make("decision", agent, project)
    record = edit_decision(actor=agent, decision=record, changes={"title": "Second"})
    write_as_sql(record, version=1)
    saved = edit_decision(actor=agent, decision=record, changes={"title": "Third"})
    numbers = [version for _verb, version in verbs_of(record.node_id)]
    assert numbers == sorted(set(numbers))
    assert saved.version == numbers[-1]
    assert sweep() == 0


def test_a_row_that_comes_back_after_its_deletion_is_there_again(agent, project):
    record = make("decision", agent, project, tags=["redis"])
    remove(record.pk)
    let_time_pass()
    assert sweep() == 1
    assert ProjectionMark.objects.get(node_id=record.node_id).gone
    insert(project, "Restored", id=record.pk, tags='["redis"]')
    assert sweep() == 1
    mark = ProjectionMark.objects.get(node_id=record.node_id)
    assert (mark.gone, mark.dead) == (False, False)
    assert mark.next_try_at is not None
    assert verbs_of(record.node_id) == [("create", 1), ("delete", None), ("create", 2)]
    assert RecordTag.objects.filter(node_id=record.node_id).count() == 1
    remove(record.pk)
    let_time_pass()
    assert sweep() == 1
    assert ProjectionMark.objects.get(node_id=record.node_id).gone


@pytest.mark.parametrize(
    ("tags", "kept"),
    [
        ('"redis"', []),
        ("17", []),
        ("null", []),
        ('{"a": 1}', []),
        ('["redis", null, 1, "", "  ", "redis ", ["x"]]', ["redis"]),
        ('["' + "x" * 101 + '"]', []),
        ('["\\u00e9", "e\\u0301"]', ["\u00e9", "e\u0301"]),
    ],
)
def test_tags_of_any_json_are_taken_in_as_far_as_they_are_tags(project, tags, kept):
    key = insert(project, tags=tags)
    assert sweep() == 1
    assert list(RecordTag.objects.filter(node_id=f"dec_{key}").values_list("tag", flat=True)) == kept


def test_a_row_that_is_refused_stops_no_other(project, monkeypatch, caplog):
    keys = [insert(project, title) for title in ("One", "Poison", "Three")]
    take_in_one = module._take_in_one

    def refuse(kind, record, *args):
        if record.pk == keys[1]:
            raise DataError("Out of range value")
        return take_in_one(kind, record, *args)

    monkeypatch.setattr(module, "_take_in_one", refuse)
    assert sweep() == 2
    assert f"dec_{keys[1]}" in caplog.text
    assert {verb for key in (keys[0], keys[2]) for verb in verbs_of(f"dec_{key}")} == {("create", 1)}
    assert verbs_of(f"dec_{keys[1]}") == []
    monkeypatch.undo()
    assert sweep() == 1


def test_another_way_of_knowing_a_row_is_no_edit(agent, project):
    record = make("decision", agent, project)
    ProjectionMark.objects.update(seen_digest="of an earlier release", seen_changed_at=None)
    assert sweep() == 0
    assert verbs_of(record.node_id) == [("create", 1)]
    assert (
        edit_decision(actor=agent, decision=record, changes={"title": "Two"}, expected_version=1).version == 2
    )


def test_a_row_that_moved_to_another_project_takes_its_tags_and_mark_along(agent, project, other_project):
    record = make("decision", agent, project, tags=["redis"])
    write_as_sql(record, project_id=other_project.pk)
    assert sweep() == 1
    assert ProjectionMark.objects.get(node_id=record.node_id).project_id == other_project.pk
    assert RecordTag.objects.get(node_id=record.node_id).project_id == other_project.pk
    last = Revision.objects.filter(node_id=record.node_id).first()
    assert (last.changed, last.project_id) == (["project_id"], other_project.pk)
    assert timezone.now() - last.created_at < timedelta(minutes=1)
    assert last.created_at.tzinfo == UTC

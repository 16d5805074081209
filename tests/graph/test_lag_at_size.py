"""How late the graph is, asked by each page and each answer of the graph while thousands of marks wait."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from desk.context import _graph_notice
from graph import fallback
from graph.queries import GraphLag
from records.models import ProjectionMark

pytestmark = [pytest.mark.database, pytest.mark.django_db]
WAITING = 4000


@pytest.fixture
def crowd(project, other_project):
    """Thousands of marks of another project wait since this moment, and as many are done."""
    now = timezone.now()
    ProjectionMark.objects.bulk_create(
        [
            ProjectionMark(
                node_id=f"dec_{key}", kind="decision", project_id=other_project.pk, wanted_at=now,
                next_try_at=now if key % 2 else None, text_hash="",
            )
            for key in range(1, 2 * WAITING + 1)
        ],
        batch_size=1000,
    )  # fmt: skip
    return now


def rows_read(ask):
    def read():
        with connection.cursor() as cursor:
            cursor.execute("SHOW SESSION STATUS LIKE 'Handler_read%'")
            return sum(int(count) for name, count in cursor.fetchall() if not name.endswith("deleted"))

    before = read()
    beside = read() - before
    before = read()
    answer = ask()
    return answer, read() - before - beside


def test_whether_a_project_is_late_reads_no_mark_of_others(project, other_project, crowd):
    if connection.vendor != "mysql":
        pytest.skip("counts what MySQL and MariaDB read")
    late, read = rows_read(lambda: fallback.is_late(project.pk))
    assert (late, read < 100) == (False, True), read
    ProjectionMark.objects.filter(node_id="dec_7").update(wanted_at=crowd - timedelta(minutes=1))
    assert fallback.is_late(other_project.pk)
    assert not fallback.is_late(project.pk)


def test_since_when_the_first_waits_is_read_off_the_index_once_a_second(crowd, django_assert_num_queries):
    first = crowd - timedelta(minutes=1)
    ProjectionMark.objects.filter(node_id="dec_7").update(wanted_at=first)
    with django_assert_num_queries(1) as asked:
        assert GraphLag(WAITING, 0, None).since == first
    with django_assert_num_queries(0):
        assert GraphLag(WAITING, 0, None).since == first
        assert GraphLag(0, 0, None).since is None
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"EXPLAIN QUERY PLAN {asked[0]['sql']}")
            assert "USING COVERING INDEX marks_due" in cursor.fetchone()[-1]
            return
        if not connection.mysql_is_mariadb:
            cursor.execute("SET explain_format = 'TRADITIONAL'")
        cursor.execute(f"EXPLAIN {asked[0]['sql']}")
        plan = dict(zip([column[0] for column in cursor.description], cursor.fetchone(), strict=True))
    assert plan["key"] == "marks_due", plan
    assert "Using index" in plan["Extra"].split("; "), plan


def test_a_banner_that_says_that_the_graph_is_away_does_not_look_for_it(crowd, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert "Graph away since" in _graph_notice(GraphLag(WAITING, 0, crowd))

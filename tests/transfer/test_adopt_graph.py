"""The Neo4j beside the tables: outcomes and contradictions of the decisions that were adopted. A real one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection as database
from django.db import connections

from decisions.models import Decision, Outcome
from records.links import unlink
from records.models import Link, ProjectionMark, Revision
from tests.transfer.plain_world import fill, fill_odd
from tests.transfer.test_adopt import ACTOR_OF_TESTS, bring, counts
from transfer.adopt.report import Line
from transfer.adopt.source import SourceProblem

pytestmark = [pytest.mark.django_db, pytest.mark.graph]
TOP = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def old_graph(clean_graph, graph_address, settings):
    """A graph as people and agents made it, in the tests' Neo4j; the desk itself has none."""
    from neo4j import GraphDatabase

    settings.GRAPH_URL = ""

    class OldGraph:
        url = graph_address

        def __init__(self, driver):
            self._driver = driver

        def run(self, statement, **parameters):
            with self._driver.session() as session:
                return [tuple(record.values()) for record in session.run(statement, parameters)]

        def fill(self, decisions):
            self.run(
                "UNWIND range(1, $last) AS n CREATE (:Decision {id: 'dec_' + n, title: 'Decision ' + n, project_id: 1})",
                last=decisions,
            )
            self.run("CREATE CONSTRAINT old_ids IF NOT EXISTS FOR (d:Decision) REQUIRE d.id IS UNIQUE")

        def relate(self, pairs, relation):
            self.run(
                "UNWIND $pairs AS pair MATCH (a:Decision {id: pair[0]}), (b:Decision {id: pair[1]})"
                f" CREATE (a)-[:{relation}]->(b)",
                pairs=[[f"dec_{a}", f"dec_{b}"] for a, b in pairs],
            )

        def outcome(self, decisions, **properties):
            self.run(
                "CREATE (o:Outcome) SET o = $properties WITH o UNWIND $decisions AS d MATCH (x:Decision {id: d})"
                " CREATE (x)-[:LEADS_TO]->(o)",
                properties=properties,
                decisions=[f"dec_{number}" for number in decisions],
            )

        def fingerprint(self):
            nodes = self.run("MATCH (n) RETURN count(n), sum(size(keys(n)))")
            return nodes + self.run("MATCH ()-[r]->() RETURN type(r), count(r) ORDER BY type(r)")

    driver = GraphDatabase.driver(graph_address)
    driver.execute_query("MATCH (n:Decision|Outcome) DETACH DELETE n")
    yield OldGraph(driver)
    driver.execute_query("MATCH (n:Decision|Outcome) DETACH DELETE n")
    driver.execute_query("DROP CONSTRAINT old_ids IF EXISTS")
    driver.close()


def test_outcomes_and_contradictions_come_along_once(plain_source, old_graph):
    fill(plain_source, 50)  # decisions 1 to 20; 1, 5, 9, 13, 17 are of project 1
    old_graph.fill(21)
    old_graph.outcome([1], type="outage", success_rate=0.25)
    old_graph.outcome([1, 5], type="Cost Saving", success_rate=7)
    old_graph.outcome([21], type="success", success_rate=1.0)  # no such row
    old_graph.relate([(1, 5), (5, 1), (9, 13), (1, 2), (1, 1), (3, 21)], "CONTRADICTS")
    old_graph.relate([(13, 17), (17, 13)], "SUPERSEDES")
    old_graph.relate([(1, 9)], "SIMILAR_TO")
    old_graph.relate([(1, 9)], "INSPIRED")
    before = old_graph.fingerprint()
    report, problems = bring(plain_source, neo4j=old_graph.url)
    text = "\n".join(problems)
    outcomes = list(
        Outcome.objects.order_by("decision_id", "type").values_list("decision_id", "type", "success_rate")
    )
    assert outcomes == [(1, "cost_saving", None), (1, "outage", 0.25), (5, "cost_saving", None)]
    assert Outcome.objects.first().occurred_at == Outcome.objects.first().decision.decided_at
    links = set(Link.objects.values_list("source", "relation", "target", "source_kind"))
    assert links == {
        ("dec_1", "CONTRADICTS", "dec_5", "import"), ("dec_13", "CONTRADICTS", "dec_9", "import"),
        ("dec_13", "SUPERSEDES", "dec_17", "import"),
    }  # fmt: skip
    assert (report.lines["links"].there, report.lines["links"].adopted, report.lines["links"].already) == (
        8,
        3,
        1,
    )
    assert (report.lines["links"].left_out, report.lines["outcomes"].left_out) == (4, 1)
    assert "links dec_1 CONTRADICTS dec_2: left out: Both records must be in the same project" in text
    assert "links dec_1 CONTRADICTS dec_1: left out" in text
    assert "links dec_3 CONTRADICTS dec_21: left out: no decision 'dec_21' was adopted" in text
    assert any("1 relations INSPIRED" in note for note in report.notes)
    assert Revision.objects.filter(node_id="dec_1", verb="link", channel="import").count() == 1
    kept = counts()
    again, _ = bring(plain_source, neo4j=old_graph.url)
    assert (again.adopted, counts(), old_graph.fingerprint()) == (0, kept, before)


def test_a_link_that_a_person_took_back_is_not_made_again(plain_source, old_graph):
    fill(plain_source, 50)
    old_graph.fill(20)
    old_graph.relate([(1, 5)], "CONTRADICTS")
    bring(plain_source, neo4j=old_graph.url)
    ends = Decision.objects.in_bulk([1, 5])
    unlink(Link.objects.get(), ends[1], ends[5], actor=ACTOR_OF_TESTS)
    bring(plain_source, neo4j=old_graph.url)
    assert not Link.objects.exists()


def test_the_graph_of_the_desk_itself_is_refused_and_the_source_refuses_writes(
    plain_source, old_graph, settings
):
    from transfer.adopt.graph import GraphSource

    source = GraphSource(old_graph.url)
    with pytest.raises(SourceProblem, match=r"(?i)read|writ"):
        list(source.ask("CREATE (:Decision {id: 'dec_9999'})"))
    source.close()
    settings.GRAPH_URL = old_graph.url
    with pytest.raises(CommandError, match="GRAPH_URL"):
        call_command("adopt", mysql=plain_source.url, neo4j=old_graph.url, time_zone="UTC")


def test_a_graph_that_does_not_answer_is_one_line(plain_source):
    with pytest.raises(CommandError, match="cannot be opened"):
        call_command("adopt", mysql=plain_source.url, neo4j="bolt://127.0.0.1:9", time_zone="UTC")


ROWS = 20_000


def command(plain_source, old_graph):
    """The command in a process of its own, on the database of this test."""
    kept = database.settings_dict
    url = f"mysql://{kept['USER']}:{kept['PASSWORD']}@{kept['HOST']}:{kept['PORT']}/{kept['NAME']}"
    arguments = [
        "adopt",
        "--mysql",
        plain_source.url,
        "--neo4j",
        old_graph.url,
        "--no-wait",
        "--time-zone",
        "UTC",
    ]
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments], cwd=TOP, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "DATABASE_URL": url, "GRAPH_URL": ""},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(database.vendor != "mysql", reason="another process cannot share a SQLite in memory")
def test_twenty_thousand_rows_with_a_kill_in_the_middle(plain_source, old_graph):
    fill(plain_source, ROWS)
    fill_odd(plain_source)
    old_graph.fill(8000)
    for number in range(1, 401, 4):
        old_graph.outcome([number], type="outage" if number % 8 == 1 else "success", success_rate=0.5)
    old_graph.relate([(number, number + 4) for number in range(1, 1001)], "CONTRADICTS")
    before_source, before_graph = plain_source.checksums(), old_graph.fingerprint()

    killed = command(plain_source, old_graph)
    while Decision.objects.count() < 3000:
        assert killed.poll() is None, killed.communicate()[0]
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    there = Decision.objects.count()
    assert 3000 <= there < 8010
    assert Revision.objects.count() == ProjectionMark.objects.count() == there  # whole batches only

    said, _ = command(plain_source, old_graph).communicate()
    sys.stdout.write(said)
    totals = {
        line.split()[0]: line.split()[1:] for line in said.splitlines() if line.split()[1:] and line[0] != " "
    }

    def row(**values):
        return [f"{value:,}" for value in Line(**values).values()]

    assert totals["architecture_decisions"] == row(
        there=8011, before=there, adopted=8010 - there, already=there, left_out=1, after=8010
    )
    assert totals["code_patterns"] == row(there=4004, adopted=4004, after=4004)
    assert totals["work_sessions"] == row(there=4005, adopted=4005, after=4005)
    assert totals["pitfalls"] == row(there=4002, adopted=4002, after=4002)
    assert totals["outcomes"] == row(there=100, adopted=100, after=100)
    assert totals["links"] == row(there=1000, adopted=1000, after=1000)
    assert Outcome.objects.filter(type="outage", success_rate=0.5, decision_id=1).count() == 1
    assert Link.objects.filter(source="dec_1", relation="CONTRADICTS", target="dec_5").exists()
    kept = counts()
    assert (kept["decision"], kept["outcome"], kept["revisions"]) == (8010, 100, 20021 + 100 + 2 * 1000)

    said, _ = command(plain_source, old_graph).communicate()
    assert "Adopted 0 in" in said
    assert counts() == kept
    assert (plain_source.checksums(), old_graph.fingerprint()) == (before_source, before_graph)
    connections.close_all()

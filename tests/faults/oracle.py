"""What the databases say after a drill, asked by plain SQL and Cypher, and by the desk's own check beside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

ROWS = {
    "decision": (
        "SELECT title, COUNT(*) FROM architecture_decisions GROUP BY title",
        "architecture_decisions",
        "dec",
    ),
    "outcome": ("SELECT note, COUNT(*) FROM outcomes GROUP BY note", "outcomes", "out"),
    "vote": ("SELECT note, COUNT(*) FROM pattern_evidence GROUP BY note", "", ""),
}
TEXTS = (
    ("dec", "SELECT id, title FROM architecture_decisions"),
    ("pat", "SELECT id, name FROM code_patterns"),
    ("out", "SELECT id, type FROM outcomes"),
)
# The desk's own view: vectors that are made of another text than the record's, and check_graph.
OWN_CHECKS = """
import io
from django.core.management import CommandError, call_command
from decisions.models import Decision, Outcome
from patterns.models import Pattern
from recall import embedder
from recall.vectors import configured_encoder
answer = []
for model in (Decision, Outcome, Pattern):
    for made in embedder.plan(list(model.objects.all()), configured_encoder()):
        if made.stale or made.missing:
            answer.append(f"{made.record.node_id} has a vector of another text")
said = io.StringIO()
try:
    call_command("check_graph", stdout=said)
except CommandError as error:
    answer.append(f"check_graph: {error}")
"""


def is_key(text):
    return bool(text) and len(text) == 32 and text.isalnum()


@dataclass
class Report:
    """The counts of one drill. `wrong` says what broke the promise; empty where it was kept."""

    drill: str
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    without_history: list[str] = field(default_factory=list)
    drift: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def wrong(self):
        counted = {
            "lost": self.lost,
            "applied twice": self.twice,
            "without history": self.without_history,
            "adrift": self.drift,
        }
        return [f"{what}: {', '.join(some[:5])}" for what, some in counted.items() if some] + self.problems

    def __str__(self):
        return (
            f"{self.drill}: {self.acknowledged} acknowledged, lost {len(self.lost)}, applied twice {len(self.twice)},"
            f" without history {len(self.without_history)}, drift {len(self.drift)}; {'; '.join(self.notes)}"
        )

    def count_writes(self, mysql, acknowledged):
        """Each acknowledged write is there once, and so is its act in the history."""
        self.acknowledged += len(acknowledged)
        counts = {what: dict(mysql.ask(sql)) for what, (sql, _table, _prefix) in ROWS.items()}
        created = dict(
            mysql.ask("SELECT node_id, COUNT(*) FROM revisions WHERE verb = 'create' GROUP BY node_id")
        )
        voted = dict(
            mysql.ask("SELECT reason, COUNT(*) FROM revisions WHERE verb = 'worked' GROUP BY reason")
        )
        for what, key, node_id in acknowledged:
            times = counts[what].get(key, 0)
            if not times:
                self.lost.append(f"{what} {key}")
            if times > 1:
                self.twice.append(f"{what} {key}")
            if (voted.get(key) if what == "vote" else created.get(node_id)) != 1:
                self.without_history.append(f"{what} {key}")
        acked = {key for _what, key, _node_id in acknowledged}
        for what, found in counts.items():
            unknown = [key for key, times in found.items() if key not in acked and times > 1 and is_key(key)]
            self.twice += [f"{what} {key}, never acknowledged" for key in unknown]
        votes = dict(
            mysql.ask(
                "SELECT pattern_id, COUNT(*) FROM pattern_evidence WHERE cause = 'worked' GROUP BY pattern_id"
            )
        )
        for pattern, used in mysql.ask("SELECT id, usage_count FROM code_patterns"):
            if votes.get(pattern, 0) != used:
                self.twice.append(f"pat_{pattern} counts {used} uses of {votes.get(pattern, 0)}")

    def compare(self, desk):
        """Drift between MySQL and Neo4j; the marks are all done."""
        self.drift += drift_of(desk.mysql, desk.neo4j)
        self.drift += desk.run(OWN_CHECKS)


def drift_of(mysql, neo4j):
    """What differs, each in a few words."""
    texts = {f"{prefix}_{key}": text for prefix, sql in TEXTS for key, text in mysql.ask(sql)}
    marks = dict(mysql.ask("SELECT node_id, wanted_version FROM projection_marks"))
    made_of = {
        node_id: f"{model}:{content_hash}"
        for node_id, model, content_hash in mysql.ask(
            "SELECT node_id, model, content_hash FROM embeddings WHERE part = 0"
        )
    }
    nodes = {
        row[0]: row[1:]
        for row in neo4j.ask(
            "MATCH (n:Record) WHERE n.gone IS NULL RETURN n.id, coalesce(n.type, n.title), n.version, n.embedding_of,"
            " size(n.embedding)"
        )
    }
    found = [f"{node_id} is not in the graph" for node_id in texts.keys() - nodes.keys()]
    found += [f"{node_id} is in the graph only" for node_id in nodes.keys() - texts.keys()]
    for node_id in texts.keys() & nodes.keys():
        text, version, embedding_of, length = nodes[node_id]
        if text != texts[node_id]:
            found.append(f"{node_id} is shown as {text!r}, not {texts[node_id]!r}")
        if version != marks.get(node_id):
            found.append(f"{node_id} is shown in version {version} of {marks.get(node_id)}")
        if embedding_of != made_of.get(node_id) or length != 384:
            found.append(f"{node_id} is shown with another vector")
    said = Counter(
        (f"dec_{decision}", "LEADS_TO", f"out_{key}")
        for key, decision in mysql.ask("SELECT id, decision_id FROM outcomes")
    )
    said |= Counter(
        (*sorted(pair), "SIMILAR_TO")
        for pair in set(map(frozenset, mysql.ask("SELECT source, target FROM similarities")))
    )
    there = Counter(
        (one, "LEADS_TO", other) if relation == "LEADS_TO" else (*sorted((one, other)), relation)
        for one, relation, other in neo4j.ask("MATCH (a:Record)-[r]->(b:Record) RETURN a.id, type(r), b.id")
    )
    found += [
        f"{' '.join(pair)}: {said[pair]} in the database, {there[pair]} in the graph"
        for pair in said | there
        if said[pair] != there[pair]
    ]
    return sorted(found)

"""`manage.py generate_memory`: a desk of realistic size, for benchmarks, demonstrations and trials of a setup."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from desk.reference.filling import Filled, Filling
from desk.reference.layout import lay_out
from projects.models import Project
from recall.encoders import EncoderUnavailable
from recall.vectors import configured_encoder
from records.kinds import all_kinds

NODES, RELATIONS_A_NODE = 50_000, 4
ENCODED = 5000
# Likenesses by node among the synthetic vectors; what the real ones and the outcomes leave over is filled by links.
LIKENESSES_A_NODE = 3.0


class Command(BaseCommand):
    help = (
        "Fill an empty desk with generated memories: many projects of uneven size, long and varied texts, history, "
        "evidence, links, vectors, similar records, reads. The same seed gives the same desk. Vectors come from the "
        "encoder for some thousand records; the others are synthetic, and their rows say so."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--nodes", type=int, default=NODES, help=f"of the graph (default {NODES:,})")
        parser.add_argument(
            "--relations", type=int, help=f"of the graph (default: {RELATIONS_A_NODE} times the nodes)"
        )
        parser.add_argument("--scale", type=float, default=1.0, help="so many times the nodes and relations")
        parser.add_argument(
            "--projects", type=int, help="how many projects (default: by the number of nodes)"
        )
        parser.add_argument(
            "--encoded",
            type=int,
            help=f"records whose vector the encoder makes (default: a tenth, {ENCODED:,} at most)",
        )
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument(
            "--until", type=date.fromisoformat, metavar="DATE", help="the newest day (default: today)"
        )
        parser.add_argument(
            "--pending",
            action="store_true",
            help="write no vectors: leave them, and the graph, to the worker",
        )
        parser.add_argument(
            "--vectors",
            type=Path,
            metavar="FILE.npz",
            help="keeps the encoder's vectors from one run to the next",
        )
        parser.add_argument("--add", action="store_true", help="add to a desk that is not empty")

    def handle(self, *args: Any, **options: Any) -> None:
        nodes = round(options["nodes"] * options["scale"])
        relations = round((options["relations"] or RELATIONS_A_NODE * options["nodes"]) * options["scale"])
        if nodes < 50:
            raise CommandError("At least 50 nodes: there are six kinds, and some projects.")
        if not options["add"] and _is_used():
            raise CommandError("This desk is not empty. `--add` writes into it all the same.")
        encoded = min(ENCODED, nodes // 10) if options["encoded"] is None else options["encoded"]
        day = options["until"] or timezone.now().astimezone(UTC).date()
        until = datetime(day.year, day.month, day.day, tzinfo=UTC)
        began = time.monotonic()
        layout = lay_out(
            seed=options["seed"],
            nodes=nodes,
            encoded=encoded,
            likenesses_a_node=LIKENESSES_A_NODE * relations / nodes / RELATIONS_A_NODE,
            projects=options["projects"],
        )
        filling = Filling(
            layout,
            relations=relations,
            until=until,
            pending=options["pending"],
            cache=options["vectors"],
            told=self._tell,
        )
        try:
            filled = filling.fill()
        except EncoderUnavailable as error:
            raise CommandError(f"{error}. `--encoded 0` makes synthetic vectors only.") from error
        self._say(filled, time.monotonic() - began)

    def _tell(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _say(self, filled: Filled, seconds: float) -> None:
        write = self.stdout.write
        write(
            f"{filled.projects} projects; "
            + ", ".join(f"{count:,} {kind}" for kind, count in filled.records.items())
        )
        relations = ", ".join(f"{count:,} {name}" for name, count in filled.relations.items())
        write(f"{sum(filled.relations.values()):,} relations of the graph: {relations}")
        if filled.encoded or filled.synthetic:
            write(
                f"Record vectors: {filled.encoded:,} by the encoder ({configured_encoder().name}), {filled.synthetic:,}"
                f" synthetic; {filled.passages:,} passages, all synthetic. A synthetic vector's content_hash begins"
                " with 'synthetic-', and the real one takes its place when the record is next embedded."
            )
        else:
            write("No vectors: the worker makes them.")
        if settings.GRAPH_URL:
            write("Neo4j shows nothing of it yet: run_worker brings it, or rebuild_graph from nothing.")
        write(f"Done in {seconds:.0f} s.")


def _is_used() -> bool:
    return Project.objects.exists() or any(kind.model._default_manager.exists() for kind in all_kinds())

"""The desk at the reference load, on MySQL and Neo4j: four SQL reads, the graph's reads, recall@10, projection.

    benchmarks/servers                          two servers of their own, with the memory of a small production
    python benchmarks/reference.py --fill       makes the load and fills the graph, timing both; an hour on a busy machine
    python benchmarks/reference.py --quiet      measures the reads only, in a few minutes, and says what is met
    python benchmarks/reference.py --scale 10   all of it at ten times the load, in a database and a Neo4j of its own

Each read is asked through the functions that pages and API use, in turn with the plain statement that it stands for.
The database is memory_desk_reference (memory_desk_reference_10, …) on port 3391, Neo4j is on port 7690 (7692 for
another scale); DATABASE_URL and GRAPH_URL say otherwise. The results are in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SQL_PORT, GRAPH_PORT, LARGE_GRAPH_PORT = 3391, 7690, 7692
SQL_GOAL, GRAPH_GOAL, GRAPH_WISH, RECALL_GOAL = 10.0, 50.0, 25.0, 0.99


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument(
        "--fill", action="store_true", help="make the load where it is missing, and rebuild the graph"
    )
    parser.add_argument("--quiet", action="store_true", help="the reads only; refuses a machine that is busy")
    parser.add_argument("--times", type=int, default=200, help="questions of each read")
    parser.add_argument("--queries", type=int, default=10, help="vectors asked of each project for recall@10")
    parser.add_argument(
        "--busy", type=float, default=1.0, help="the load average that --quiet still takes for quiet"
    )
    return parser.parse_args()


def name_the_servers(scale: float) -> None:
    """Before Django reads its settings."""
    suffix = "" if scale == 1 else f"_{scale:g}".replace(".", "_")
    port = GRAPH_PORT if scale == 1 else LARGE_GRAPH_PORT
    os.environ.setdefault(
        "DATABASE_URL", f"mysql://desk:desk@127.0.0.1:{SQL_PORT}/memory_desk_reference{suffix}"
    )
    os.environ.setdefault("GRAPH_URL", f"bolt://127.0.0.1:{port}")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")


def wait_for_quiet(busy: float) -> None:
    for _ in range(30):
        load = os.getloadavg()[0]
        if load <= busy:
            return
        print(f"The load average is {load:.1f}; waiting for {busy:g} or less.", flush=True)
        time.sleep(10)
    print("It never was. Measured all the same: these are numbers of a busy machine.", flush=True)


def main() -> int:
    options = parsed()
    name_the_servers(options.scale)
    import django

    django.setup()
    import logging

    from benchmarks import reference_report as report
    from benchmarks.reference_load import fill_if_empty, rebuild

    logging.disable(logging.WARNING)
    if options.scale != 1:
        subprocess.run([str(ROOT / "benchmarks" / "servers"), "start", f"{options.scale:g}"], check=True)
    if options.fill or (options.scale != 1 and not options.quiet):
        fill_if_empty(options.scale)
        rebuild()
    if options.quiet:
        wait_for_quiet(options.busy)
    rng = random.Random(20)
    report.say_what_is_there()
    met = report.sql(options.times, rng, SQL_GOAL)
    met &= report.graph(options.times, rng, GRAPH_GOAL, GRAPH_WISH)
    met &= report.recall(options.queries, rng, RECALL_GOAL)
    print("\nAll goals are met." if met else "\nNot every goal is met.", flush=True)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

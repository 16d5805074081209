"""`manage.py prove_erased dec_12`, `… --text-from FILE`: that nothing is left. Exit code 1: something is, and where."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from graph import connection
from graph.store import GraphAway
from recall.fulltext import texts_with
from records import everywhere, left_over
from records.kinds import parse_node_id
from records.models import ProjectionMark

SHOWN = 200
MOST_LINE = 1024 * 1024


class Command(BaseCommand):
    help = (
        "Search every text, JSON and binary column of every table, the index of words and Neo4j for what should be"
        " erased. Texts come from a file or standard input (one a line), never from the command line, which others see."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("node_id", nargs="*", metavar="RECORD", help="ids such as dec_12")
        parser.add_argument(
            "--text-from", metavar="FILE", help="texts to search for, one a line; - reads standard input"
        )
        parser.add_argument("--whole", action="store_true", help="the file is one text, line ends and all")
        parser.add_argument(
            "--logs", metavar="DIR", action="append", default=[], help="search the files of this folder too"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["node_id"] and not options["text_from"]:
            raise CommandError("Name a record, or give texts by --text-from FILE (or -).")
        texts = _texts(options["text_from"], whole=options["whole"]) if options["text_from"] else []
        left = 0
        for node_id in options["node_id"]:
            left += self._say(self._of_record(node_id))
        if texts:
            left += self._say(self._of_texts(texts, options["logs"]))
        if left:
            self.stdout.write(f"{left:,} left.")
            sys.exit(1)
        self.stdout.write("Nothing is left.")

    def _say(self, lines: Iterator[str]) -> int:
        number = 0
        for line in lines:
            number += 1
            if number <= SHOWN:
                self.stdout.write(line)
            elif number == SHOWN + 1:
                self.stdout.write("… and more")
        return number

    def _of_record(self, node_id: str) -> Iterator[str]:
        parsed = parse_node_id(node_id)
        if parsed is None:
            raise CommandError(f"{node_id!r} names no record.")
        if not ProjectionMark.objects.filter(node_id=node_id).exists():
            raise CommandError(f"There is no record {node_id}, and there was none.")
        yield from map(str, left_over.left_of(*parsed))
        if left_over.is_waiting(node_id):
            yield f"{node_id} waits for the worker, which takes its vectors and its node in the graph away"
        elif connection.configured_address() is not None:
            yield from _in_graph(lambda schema: [node_id] if schema.is_shown(node_id) else [])

    def _of_texts(self, texts: Sequence[str], logs: Sequence[str]) -> Iterator[str]:
        tables, columns = (
            len({model for model, _ in everywhere.text_columns()}),
            len(list(everywhere.text_columns())),
        )
        self.stdout.write(
            f"Looking for {len(texts)} in {columns} columns of {tables} tables, and in the index of words."
        )
        yield from map(str, everywhere.places_of(texts))
        for text in texts:
            found = texts_with("", [text])
            for node_id in found.values_list("node_id", flat=True) if found is not None else ():
                yield f"the index of words, of {node_id}: the same words, side by side"
        if connection.configured_address() is not None:
            yield from _in_graph(lambda schema: schema.nodes_holding([*texts]))
        for folder in logs:
            yield from _in_files(Path(folder), texts)


def _in_graph(ask: Any) -> Iterator[str]:
    from graph import cypher_schema

    try:
        found = ask(cypher_schema)
    except GraphAway as error:
        raise CommandError(f"The graph does not answer: {error}") from error
    yield from (f"Neo4j, node {node_id}" for node_id in found)


def _in_files(folder: Path, texts: Sequence[str]) -> Iterator[str]:
    if not folder.is_dir():
        raise CommandError(f"{folder} is no folder.")
    wanted = [form.encode() for text in texts for form in everywhere.forms_of(text)]
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        try:
            with path.open("rb") as file:
                for number, line in enumerate(iter(lambda file=file: file.readline(MOST_LINE), b""), 1):  # type: ignore[misc]
                    if any(text in line for text in wanted):
                        yield f"{path}, line {number}"
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}") from error


def _texts(source: str, *, whole: bool) -> list[str]:
    try:
        said = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{source} cannot be read: {error}") from error
    try:
        return everywhere.searchable([said] if whole else said.splitlines())
    except ValueError as error:
        raise CommandError(str(error)) from error

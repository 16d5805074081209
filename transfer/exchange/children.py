"""What belongs to records that this file brought: evidence, encounters, links, history, reads; each line once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from database.transactions import transactional
from projects.models import Project
from records import marks
from records.arrivals import write_history
from records.guard import writing
from records.kinds import kind_named, parse_node_id
from records.links import SYMMETRICAL
from records.models import Erasure, Link, Read, Revision
from transfer.exchange.columns import CHILDREN, read_fields
from transfer.exchange.lines import Line
from transfer.exchange.renaming import Renaming
from transfer.models import Arrival, Place

PARENT_OF = {"evidence": "pattern_id", "encounter": "pitfall_id"}


class ChildWriter:
    """`place` names how far these lines have come; it moves in the transaction that writes them."""

    def __init__(
        self,
        origin: str,
        export: str,
        project: Project,
        people: Mapping[str, int],
        renaming: Renaming,
        place: str,
    ) -> None:
        self._origin, self._export, self._project = origin, export, project
        self._people, self._renaming, self._place = people, renaming, place
        reached = Place.objects.filter(name=place).values_list("reached", flat=True).first()
        self._reached = int(reached or 0)

    def write(self, kind: str, batch: list[tuple[int, Line]]) -> int:
        """How many of these lines were written now."""
        last = batch[-1][0]
        if last <= self._reached:
            return 0
        written = self._write(kind, batch, last)
        self._reached = last
        return written

    @transactional
    def _write(self, kind: str, batch: list[tuple[int, Line]], last: int) -> int:
        lines = [line for number, line in batch if number > self._reached]
        ours = self._brought(lines)
        rows: list[Any] = []
        for line in lines:
            values, _ = read_fields(CHILDREN[kind], line["fields"])
            if ours & set(_names(line, values)):
                rows.append(self._row(kind, line, values))
        if kind == "revision":
            rows = self._without_known_versions(rows)
            write_history(rows)
        elif kind == "link":
            rows = self._without_known_links(rows)
            self._insert(Link, rows)
        else:
            self._insert(CHILDREN[kind], rows)
        if kind == "erasure":
            marks.entomb_text(row.node_id for row in rows)
        Place.objects.update_or_create(name=self._place, defaults={"reached": str(last)})
        return len(rows)

    def _insert(self, model: Any, rows: list[Any]) -> None:
        with writing():
            model.objects.bulk_create(rows)

    def _brought(self, lines: list[Line]) -> set[str]:
        """Of the records that these lines name, those that this very file brought."""
        named = {name for line in lines for name in _names(line, line["fields"])}
        rows = Arrival.objects.filter(origin=self._origin, batch=self._export, source_key__in=named)
        return set(rows.values_list("source_key", flat=True))

    def _row(self, kind: str, line: Line, values: dict[str, Any]) -> Any:
        renaming = self._renaming
        for name in ("source", "target", "node_id"):
            if values.get(name) is not None:
                values[name] = renaming.of(values[name])
        for name in ("source_run", "run"):
            if values.get(name):
                values[name] = renaming.of_run(values[name])
        for name in ("source_session", "session"):
            if values.get(name):
                values[name] = renaming.of_session(values[name])
        if values.get("moves"):
            values["moves"] = renaming.inside(values["moves"])
        if kind == "revision":
            return self._revision(values)
        if kind == "link":
            if values["relation"] in SYMMETRICAL and values["source"] > values["target"]:
                values["source"], values["target"] = values["target"], values["source"]
            return Link(**values, project=self._project)
        if kind == "erasure":
            user = values.pop("user", None)
            return Erasure(**values, project=self._project, user_id=self._people.get(user) if user else None)
        if kind == "read":
            return Read(**values, project_id=self._project.pk)
        parsed = parse_node_id(renaming.of(line["of"]))
        return CHILDREN[kind](**values, **{PARENT_OF[kind]: parsed[1] if parsed else None})

    def _revision(self, values: dict[str, Any]) -> Revision:
        user = values.pop("user", None)
        if isinstance(values.get("after"), dict):
            values["after"] = self._renaming.of_image(
                kind_named(values["kind"]), values["after"], self._project.pk, self._people
            )
        values["detail"] = self._renaming.inside(values.get("detail"))
        return Revision(**values, project=self._project, user_id=self._people.get(user) if user else None)

    def _without_known_versions(self, rows: list[Revision]) -> list[Revision]:
        """Somebody who edited a record while the import was under way has written its next version already."""
        node_ids = {row.node_id for row in rows}
        known = set(
            Revision.objects.filter(node_id__in=node_ids, version__isnull=False).values_list(
                "node_id", "version"
            )
        )
        kept = []
        for row in rows:
            if row.version is None or (row.node_id, row.version) not in known:
                known.add((row.node_id, row.version))
                kept.append(row)
        return kept

    def _without_known_links(self, rows: list[Link]) -> list[Link]:
        known = set(
            Link.objects.filter(source__in={row.source for row in rows}).values_list(
                "source", "relation", "target"
            )
        )
        fresh = {(row.source, row.relation, row.target): row for row in rows}
        return [row for triple, row in fresh.items() if triple not in known]


def _names(line: Line, fields: Mapping[str, Any]) -> list[str]:
    """The records that a line is about, by their ids in the file."""
    named = [line.get("of"), *(fields.get(name) for name in ("node_id", "source", "target"))]
    return [name for name in named if isinstance(name, str)]

"""Curation in plain dicts: what the verbs are said to do, without a database. The state machine compares the two."""

from __future__ import annotations

from itertools import count
from typing import Any

VERSIONED = ("title", "more", "tags", "status", "review", "archived", "merged", "trust")


class Model:
    """Records by node id. `review` and `archived` hold a stamp, new each time; a vote is {by, owner, worked, counts, path}.
    An act is a list of entries: ("change", node, before, after), ("create", node, after), ("link", link, made),
    ("vote", vote, given), ("merge", survivor, others, links)."""

    def __init__(self) -> None:
        self.records: dict[str, dict[str, Any]] = {}
        self.links: set[tuple[str, str, str]] = set()
        self.votes: list[dict[str, Any]] = []
        self.acts: dict[str, list[tuple[Any, ...]]] = {}
        self.stamps = count(1)

    # --- What there is ---------------------------------------------------------------------------------------
    def live(self, prefix: str = "", *, merged_too: bool = False) -> list[str]:
        return [
            node for node, record in self.records.items()
            if node.startswith(prefix) and not record["erased"] and (merged_too or not record["merged"])
        ]  # fmt: skip

    def mergeable(self, prefix: str) -> list[str]:
        return [node for node in self.live(prefix) if not self.records[node]["archived"]]

    def survivor(self, node: str) -> str:
        while self.records[node]["merged"]:
            node = self.records[node]["merged"]
        return node

    def tally(self, node: str) -> tuple[int, int]:
        mine = [vote["worked"] for vote in self.votes if vote["owner"] == node and vote["counts"]]
        return mine.count(True), mine.count(False)

    def leads(self, start: str, end: str) -> bool:
        frontier, seen = {start}, set()
        while frontier:
            seen |= frontier
            frontier = {t for rel, s, t in self.links if rel == "SUPERSEDES" and s in frontier} - seen
            if end in frontier:
                return True
        return False

    @staticmethod
    def link_key(relation: str, source: str, target: str) -> tuple[str, str, str]:
        if relation == "RELATES_TO" and source > target:
            source, target = target, source
        return relation, source, target

    # --- Verbs -----------------------------------------------------------------------------------------------
    def create(self, act: str, node: str, record: dict[str, Any]) -> None:
        self.records[node] = {**record, "version": 1, "erased": False, "archived": None, "merged": None}
        self.acts[act] = [("create", node, self._columns(node))]

    def change(self, act: str, node: str, **columns: Any) -> bool:
        before = self._columns(node)
        changed = {name: value for name, value in columns.items() if before[name] != value}
        if not changed:
            return False
        self.records[node] |= changed
        self.records[node]["version"] += 1
        self.acts.setdefault(act, []).append(("change", node, before, self._columns(node)))
        return True

    def link(self, act: str, relation: str, source: str, target: str) -> None:
        link = self.link_key(relation, self.survivor(source), self.survivor(target))
        if link not in self.links:
            self.links.add(link)
            self.acts.setdefault(act, []).append(("link", link, True))

    def vote(self, act: str, node: str, worked: bool) -> None:
        owner = self.survivor(node)
        vote = {"of": owner, "owner": owner, "worked": worked, "counts": True, "path": []}
        self.votes.append(vote)
        self.acts[act] = [("vote", vote, True)]

    def merge(self, act: str, into: str, others: list[str], title_of: str) -> None:
        rows = [self.records[node] for node in (into, *others)]
        tags = tuple(dict.fromkeys(tag for row in rows for tag in row["tags"]))
        before = {node: self._columns(node) for node in (into, *others)}
        changed = {
            "title": self.records[title_of]["title"],
            "tags": tags,
            "trust": min(r["trust"] for r in rows),
        }
        entries: list[tuple[Any, ...]] = []
        if any(before[into][name] != value for name, value in changed.items()):
            self.records[into] |= changed
            self.records[into]["version"] += 1
            entries.append(("change", into, before[into], self._columns(into)))
        moved = []
        for other in others:
            moved += self._move_links(other, into)
            for vote in self.votes:
                if vote["owner"] == other:
                    vote["path"].append((act, other))
                    vote["owner"] = into
            self.records[other]["merged"] = into
            self.records[other]["version"] += 1
            entries.append(("change", other, before[other], self._columns(other)))
        self.acts[act] = [("merge", into, others, moved), *entries]

    def _move_links(self, old: str, new: str) -> list[tuple[Any, Any]]:
        moved = []
        for link in [
            *(x for x in sorted(self.links) if x[1] == old),
            *(x for x in sorted(self.links) if x[2] == old),
        ]:
            relation, *ends = link
            became = self.link_key(relation, *(new if end == old else end for end in ends))
            goes = became[1] == became[2] or became in self.links
            # as it stands while the others have moved: a circle is asked about with this link in place
            goes = goes or (relation == "SUPERSEDES" and self.leads(became[2], became[1]))
            self.links.discard(link)
            if not goes:
                self.links.add(became)
            moved.append((link, None if goes else became))
        return moved

    # --- Undo ------------------------------------------------------------------------------------------------
    def undo(self, act: str, undone: str) -> set[str] | None:
        """The nodes that refused; None where the whole act is refused."""
        entries = self.acts[undone]
        if entries[0][0] == "merge":
            return self._unmerge(act, undone, entries)
        refused: set[str] = set()
        for entry in entries:
            if entry[0] in ("change", "create") and not self._take_back(act, entry):
                refused.add(entry[1])
        for entry in reversed(entries):
            if (
                entry[0] == "link"
                and not refused & {*entry[1][1:]}
                and not self._relink(act, entry[1], entry[2])
            ):
                refused.add(entry[1][1])
            elif entry[0] == "vote":
                refused |= self._recount(act, entry[1], entry[2])
        return refused

    def _take_back(self, act: str, entry: tuple[Any, ...], keep_later: bool = False) -> bool:
        node = entry[1]
        if self.records[node]["erased"]:
            return False
        now = self._columns(node)
        if entry[0] == "create":
            if now["archived"]:
                return True
            if now != entry[2]:
                return False
            return self.change(act, node, archived=next(self.stamps)) or True
        before, after = entry[2], entry[3]
        names = [name for name in VERSIONED if before[name] != after[name]]
        later = [name for name in names if now[name] not in (before[name], after[name])]
        if later and not keep_later and any(now[name] != before[name] for name in names):
            return False
        self.change(act, node, **{name: before[name] for name in names if name not in later})
        return not later

    def _relink(self, act: str, link: tuple[str, str, str], made: bool) -> bool:
        if any(self.records[end]["merged"] for end in link[1:]):
            return False
        if made and link in self.links:
            self.links.remove(link)
            self.acts.setdefault(act, []).append(("link", link, False))
        elif not made and link not in self.links:
            if any(self.records[end]["erased"] for end in link[1:]):
                return False
            if link[0] == "SUPERSEDES" and self.leads(link[2], link[1]):
                return False
            self.links.add(link)
            self.acts.setdefault(act, []).append(("link", link, True))
        return True

    def _recount(self, act: str, vote: dict[str, Any], given: bool) -> set[str]:
        if self.records[vote["owner"]]["erased"]:
            return {vote["of"]}
        if vote["counts"] == given:
            vote["counts"] = not given
            self.acts[act] = [("vote", vote, not given)]
        return set()

    def _unmerge(self, act: str, undone: str, entries: list[tuple[Any, ...]]) -> set[str] | None:
        _merge, into, others, moved = entries[0]
        nodes = [into, *others]
        if any(self.records[node]["erased"] for node in nodes):
            return None
        if all(self.records[node]["merged"] is None for node in others):
            return set()
        if self.records[into]["merged"] or any(self.records[node]["merged"] != into for node in others):
            return None
        refused = {e[1] for e in entries[1:] if not self._take_back(act, e, keep_later=True)}
        for other in reversed(others):
            for link, became in reversed([pair for pair in moved if other in pair[0][1:]]):
                refused |= self._link_back(link, became)
            for vote in self.votes:
                if vote["owner"] == into and vote["path"] and vote["path"][-1] == (undone, other):
                    vote["path"].pop()
                    vote["owner"] = other
        self.acts.pop(act, None)  # to do a merge again is tested by itself
        return refused

    def _link_back(self, link: tuple[str, str, str], became: tuple[str, str, str] | None) -> set[str]:
        if link in self.links:
            return set()
        if became is None:
            if link[0] == "SUPERSEDES" and self.leads(link[2], link[1]):
                return {link[1]}
            self.links.add(link)
        elif became in self.links:
            self.links.remove(became)
            self.links.add(link)
        return set()

    def _columns(self, node: str) -> dict[str, Any]:
        return {name: self.records[node][name] for name in VERSIONED}

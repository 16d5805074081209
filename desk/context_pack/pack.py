"""The context pack: what an agent is told of a task or a trigger, within its budget of tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from desk.context_pack import markdown
from desk.context_pack.asked import Asked
from desk.context_pack.candidates import Candidate, LeftOut
from desk.context_pack.choice import Choice, Chosen, Item
from desk.context_pack.gathering import Gathered, gather
from desk.context_pack.pack_item import PackedItem
from desk.context_pack.rewriting import rewritten
from desk.context_pack.worth import worth_of
from projects.queries import policy_of
from recall.compression import CutText
from recall.tokens import count_tokens
from recall.units import LONGEST_READ, PassageScore

LEAST_READ = 2_400  # characters of a record that are looked at, at least; as many as the budget has tokens


@dataclass
class Pack:
    """`markdown` has `tokens`, of which `frame_tokens` are no item's; never more than were asked for."""

    asked: Asked
    items: list[PackedItem]
    left_out: list[LeftOut]
    markdown: str
    tokens: int
    frame_tokens: int
    compressed_by: str
    notes: list[str]

    @property
    def served(self) -> list[str]:
        """The node id of every record that it tells of."""
        return list(
            dict.fromkeys(
                node_id for item in self.items for node_id in (item.candidate.node_id, *item.candidate.beside)
            )
        )


def context_pack(asked: Asked) -> Pack:
    """What the memory of a project has to say to the text, in at most `budget` tokens. Same memory, same day, same bytes."""
    notes = []
    if not asked.reviewed_only and policy_of(asked.project.pk).reviewed_only_recall:
        asked = replace(asked, reviewed_only=True)
        notes.append("This project lets agents recall only what a person approved.")
    gathered = gather(asked)
    opening = markdown.opening(asked)
    chosen = _chosen(asked, gathered, asked.budget - count_tokens(opening) - markdown.fence_cost(asked))
    items = [_packed(item) for item in sorted(chosen.items, key=_place)]
    compressed_by = rewritten(asked, items)
    left_out = sorted(gathered.left_out + chosen.left_out, key=lambda one: (-one.score, one.record.node_id))
    return _rendered(asked, opening, items, left_out, compressed_by, notes + gathered.notes)


def _chosen(asked: Asked, gathered: Gathered, budget: int) -> Chosen:
    passages = _passages(gathered)
    items = [_item(asked, one, passages) for one in gathered.candidates]
    return Choice(
        items,
        budget=budget,
        k=asked.k,
        section_cost=lambda section: count_tokens(markdown.section_line(section)),
        vector=gathered.near.vector,
    ).made()


def _passages(gathered: Gathered) -> Callable[[Candidate], list[PassageScore]]:
    """Where the passages of a record stand, looked up for all records at once."""
    found = gathered.near.passages_of([one.node_id for one in gathered.candidates])

    def of(one: Candidate) -> list[PassageScore]:
        return found.get(one.node_id, [])

    return of


def _item(asked: Asked, one: Candidate, passages: Callable[[Candidate], list[PassageScore]]) -> Item:
    read = min(LONGEST_READ, max(LEAST_READ, asked.budget))

    def cut() -> CutText:
        return CutText(markdown.body_of(one), passages(one), line_cost=markdown.LINE_COST, read=read)

    def texts() -> tuple[str, str]:
        return markdown.head_of(asked, one), markdown.tail_of(one)

    return Item(one, worth_of(asked, one), texts, cut, asked.words)


def _packed(item: Item) -> PackedItem:
    head, tail = item.texts
    return PackedItem(
        item.candidate, item.worth, head, item.cut.joined(), tail, item.cut.is_whole, item.cut.passages
    )


def _place(item: Item) -> tuple[int, float, str]:
    return list(markdown.SECTIONS).index(item.candidate.section), -item.worth, item.node_id


def _rendered(
    asked: Asked,
    opening: str,
    items: list[PackedItem],
    left_out: list[LeftOut],
    compressed_by: str,
    notes: list[str],
) -> Pack:
    parts, section = [opening], ""
    for item in items:
        if item.candidate.section != section:
            section = item.candidate.section
            parts.append(markdown.section_line(section))
        item.tokens = count_tokens(item.markdown)
        parts.append(item.markdown)
    text = markdown.finished(asked, "\n".join(parts))
    tokens = count_tokens(text)
    return Pack(
        asked=asked,
        items=items,
        left_out=left_out,
        markdown=text,
        tokens=tokens,
        frame_tokens=tokens - sum(item.tokens for item in items),
        compressed_by=compressed_by,
        notes=notes,
    )

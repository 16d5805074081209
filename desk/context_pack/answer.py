"""A pack as JSON, for API and MCP: plain values in a fixed order."""

from __future__ import annotations

from typing import Any

from desk.context_pack.candidates import LeftOut
from desk.context_pack.pack import Pack
from desk.context_pack.pack_item import PackedItem
from recall.tokens import TOKENIZER
from records.api.serializers import page_of
from records.kinds import kind_of


def answer_of(pack: Pack) -> dict[str, Any]:
    """The answer of `POST /api/v1/context`."""
    return {
        "project": pack.asked.project.slug,
        "as_of": pack.asked.as_of.isoformat(),
        "budget": pack.asked.budget,
        "tokens": pack.tokens,
        "frame_tokens": pack.frame_tokens,
        "tokenizer": TOKENIZER,
        "compressed_by": pack.compressed_by,
        "markdown": pack.markdown,
        "items": [_item(pack, item) for item in pack.items],
        "left_out": [_left_out(one) for one in pack.left_out],
        "notes": pack.notes,
    }


def _item(pack: Pack, item: PackedItem) -> dict[str, Any]:
    one, record = item.candidate, item.record
    return {
        **_named(record, one.section, item.score),
        "status": one.kind.status_of(record),
        "url": page_of(record),
        "relevance": round(one.relevance, 4),
        "cosine": None if one.cosine is None else round(one.cosine, 4),
        "why": one.why,
        "tokens": item.tokens,
        "text": item.text,
        "whole": item.is_whole,
        "rewritten": item.is_rewritten,
        "told_with_it": one.lines,
        "beside": list(dict.fromkeys(one.beside)),
        "run": None if one.run is None else one.run.node_id,
        "review_state": record.review_state,
        "trust": record.trust,
        "source_kind": record.source_kind,
        "source_name": record.source_name,
        "age_days": pack.asked.age_in_days(getattr(record, one.kind.when)),
        "version": record.version,
    }


def _left_out(one: LeftOut) -> dict[str, Any]:
    return {**_named(one.record, one.section, one.score), "reason": one.reason, "of": one.of or None}


def _named(record: Any, section: str, score: float) -> dict[str, Any]:
    return {
        "node_id": record.node_id,
        "kind": kind_of(record).name,
        "section": section,
        "title": record.heading,
        "score": round(score, 4),
    }

"""Texts of a few words in any order: for what is measured by its count, not by what it says."""

import random

WORDS = [
    "cache", "ledger", "replica", "timeout", "retry", "queue", "index", "shard", "token", "schema", "order", "payment",
    "gateway", "region", "latency",
]  # fmt: skip


def text(rng: random.Random, words: int = 200) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words)).capitalize() + "."

"""Texts that look like what teams and agents write: sections, paragraphs, code, of very uneven length."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping
from typing import Any

from desk.reference import words

LEAST_CHARACTERS, MOST_CHARACTERS = 250, 240_000
MEDIAN_CHARACTERS, SPREAD = 3_400, 0.95
_SLOT = re.compile(r"\{([a-z])\}")

Pieces = list[str]


def _parsed(sentence: str) -> Pieces:
    """Text and slot names in turn."""
    return _SLOT.split(sentence)


_SENTENCES = [_parsed(sentence) for sentence in words.SENTENCES]
_TITLES = {kind: [_parsed(title) for title in titles] for kind, titles in words.TITLES.items()}
_LISTS: Mapping[str, list[str]] = {
    "c": words.COMPONENTS,
    "t": words.TECHNOLOGIES,
    "q": words.CONCERNS,
    "r": words.REASONS,
    "m": words.METRICS,
    "a": words.ACTIONS,
    "w": words.WHENS,
}
_SYLLABLES = [
    "ka",
    "lo",
    "mi",
    "ter",
    "van",
    "ros",
    "ben",
    "dal",
    "fi",
    "gor",
    "hu",
    "ist",
    "jun",
    "kel",
    "mar",
    "nov",
    "pol",
    "qui",
    "sar",
    "tan",
    "ul",
    "ver",
    "wes",
    "yor",
    "zim",
]


class Topic:
    """What one group of records is about: its component, technology and concern, and a name of its own."""

    def __init__(self, seed: int, number: int) -> None:
        rng = random.Random(f"{seed} topic {number}")
        self.own = {
            "c": [rng.choice(words.COMPONENTS)],
            "t": [rng.choice(words.TECHNOLOGIES)],
            "q": rng.sample(words.CONCERNS, 2),
            "u": [
                "".join(rng.choices(_SYLLABLES, k=3))
                + rng.choice(["-api", "-job", "-store", "-ui", "db", ""])
            ],
        }
        self.category = rng.choice(words.CATEGORIES)


class Writer:
    """Writes one record's texts. The same seed and name give the same words, whatever was written before."""

    def __init__(self, rng: random.Random, topic: Topic) -> None:
        self.rng, self.topic = rng, topic

    def _filled(self, pieces: Pieces) -> str:
        rng, own = self.rng, self.topic.own
        made = list(pieces)
        for at in range(1, len(made), 2):
            slot = made[at]
            if slot == "n":
                made[at] = str(rng.randrange(2, 900))
            elif slot in own and (slot == "u" or rng.random() < 0.7):
                made[at] = rng.choice(own[slot])
            else:
                made[at] = rng.choice(_LISTS[slot])
        text = "".join(made)
        return text[0].upper() + text[1:]

    def title(self, kind: str) -> str:
        return self._filled(self.rng.choice(_TITLES[kind]))[:200]

    def sentence(self) -> str:
        return self._filled(self.rng.choice(_SENTENCES))

    def paragraph(self) -> str:
        return " ".join([self.sentence() for _ in range(self.rng.randint(2, 7))])

    def prose(self, characters: int) -> str:
        """About so many characters of paragraphs; long ones with headings and lists."""
        parts: list[str] = []
        length = 0
        while length < characters:
            chance = self.rng.random()
            if parts and chance < 0.08:
                made = f"### {self._filled(['', 'q', ' in ', 'u', ''])}"
            elif parts and chance < 0.2:
                made = "\n".join(f"- {self.sentence()}" for _ in range(self.rng.randint(2, 6)))
            else:
                made = self.paragraph()
            parts.append(made)
            length += len(made) + 2
        return "\n\n".join(parts)

    def length(self) -> int:
        """Most records are a page or two, a few are whole documents."""
        drawn = int(math.exp(self.rng.gauss(math.log(MEDIAN_CHARACTERS), SPREAD)))
        return min(MOST_CHARACTERS, max(LEAST_CHARACTERS, drawn))

    def code(self) -> str:
        name = re.sub(r"\W", "_", self.topic.own["u"][0])
        blocks = [
            words.CODE.format(
                f=f"{name}_{at}", v=name, n=self.rng.randint(2, 9), q=self.rng.choice(words.CONCERNS)
            )
            for at in range(self.rng.randint(1, 6))
        ]
        return "\n\n\n".join(blocks)

    def tags(self) -> list[str] | None:
        return self.rng.sample(words.TAGS, self.rng.randint(1, 4)) if self.rng.random() < 0.7 else None

    def payload(self) -> dict[str, Any]:
        return {
            "title": self.sentence()[:120],
            "host": f"{self.topic.own['u'][0]}-{self.rng.randint(1, 9)}",
            "service": self.topic.own["c"][0],
            "labels": {
                "severity": self.rng.choice(["page", "ticket", "info"]),
                "region": self.rng.choice(["eu", "us"]),
            },
        }

    def calls(self, characters: int) -> list[dict[str, Any]]:
        """Tool calls with what they answered, together about so long."""
        made = []
        while characters > 0:
            answer = self.prose(min(characters, 1500))
            characters -= len(answer)
            name = self.rng.choice(["bash", "read_file", "search", "query"])
            made.append({"name": name, "duration_ms": self.rng.randint(3, 9000), "answer": answer})
        return made

"""The questions that the desk is there to answer: each one click, and one call of the API.

The calls stand word for word in docs/api.md; a test compares the two. `asks` names the list that answers, by kind and
filters: page, API and count read the very same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.utils.translation import gettext_lazy as _

from decisions.queries import BAD_OUTCOMES

Filters = tuple[tuple[str, str], ...]
SEVERE: Filters = (("severity", "critical"), ("severity", "high"))
TRUSTED_AND_USED: Filters = (("confidence_above", "0.8"), ("usage_min", "11"))


@dataclass(frozen=True)
class Asks:
    """A list of one kind with these filters; `label` says what of the question it answers."""

    label: Any
    kind: str
    filters: Filters = ()


@dataclass(frozen=True)
class Field:
    """What a question needs to be told: the control's name and type, the page (URL name) that it goes to, and what
    else that is asked. `suggests`: the values on offer ("tags" or "categories")."""

    name: str
    label: Any
    to: str
    type: str = "text"
    more: Filters = ()
    placeholder: str = ""
    suggests: str = ""


def _nothing(today: date) -> tuple[Asks, ...]:
    return ()


@dataclass(frozen=True)
class Question:
    """`queues` are those of the inbox; `page` is a page that answers by itself (URL name)."""

    key: str
    text: Any
    calls: tuple[str, ...]
    asks: Callable[[date], tuple[Asks, ...]] = _nothing
    field: Field | None = None
    queues: tuple[str, ...] = ()
    page: str = ""
    categories: bool = False


def _on_days(today: date) -> tuple[Asks, ...]:
    yesterday = today - timedelta(days=1)
    return (
        Asks(_("today"), "decision", (("decided", today.isoformat()),)),
        Asks(_("yesterday"), "decision", (("decided", yesterday.isoformat()),)),
    )


def _in_range(today: date) -> tuple[Asks, ...]:
    month = today.replace(day=1)
    return (
        Asks(_("this month"), "decision", _between(month, today)),
        Asks(_("last month"), "decision", _between((month - timedelta(days=1)).replace(day=1), month - timedelta(days=1))),
    )  # fmt: skip


def _between(first: date, last: date) -> Filters:
    return ("decided_after", first.isoformat()), ("decided_before", last.isoformat())


def _lately(today: date) -> tuple[Asks, ...]:
    return (Asks(_("last 30 days"), "decision", (("q", 'decided:"last 30 days"'),)),)


def _always(*asks: Asks) -> Callable[[date], tuple[Asks, ...]]:
    return lambda today: asks


@dataclass(frozen=True)
class Group:
    title: Any
    questions: tuple[Question, ...]


GROUPS = (
    Group(
        _("Decisions"),
        (
            Question(
                "day", _("What did we decide on a day?"), ("GET /decisions?decided=2026-03-15",), _on_days,
                Field("decided", _("Day"), "decisions:list", "date"),
            ),
            Question(
                "range", _("In a range?"), ("GET /decisions?decided_after=2026-03-01&decided_before=2026-03-31",), _in_range
            ),
            Question("lately", _("In the last 30 days?"), ('GET /decisions?q=decided:"last 30 days"',), _lately),
            Question(
                "outages", _("Which decisions led to outages?"), ("GET /decisions?outcome=outage",),
                _always(*(Asks(name, "decision", (("outcome", name),)) for name in BAD_OUTCOMES)),
            ),
            Question(
                "about", _("What outcomes followed decisions about a subject?"), ("GET /outcomes?about=redis",),
                _always(Asks(_("all outcomes"), "outcome")),
                Field("about", _("Subject"), "decisions:outcomes", placeholder="redis", suggests="tags"),
            ),
        ),
    ),
    Group(
        _("Before somebody implements"),
        (
            Question(
                "patterns", _("Which patterns have confidence > 0.8 and usage > 10?"),
                ("GET /patterns?confidence_above=0.8&usage_min=11",),
                _always(Asks(_("patterns"), "pattern", TRUSTED_AND_USED)),
            ),
            Question(
                "pitfalls", _("Which critical or high pitfalls are known for a category?"),
                ("GET /pitfalls?category=caching&severity=critical&severity=high",),
                _always(Asks(_("all categories"), "pitfall", SEVERE)),
                Field("category", _("Category"), "pitfalls:list", more=SEVERE, placeholder="caching", suggests="categories"),
                categories=True,
            ),
            Question(
                "similar", _("Which past decisions are like this one (cosine above 0.8)?"),
                ("GET /records/{node_id}/similar?kind=decision&score=0.8",),
                field=Field(
                    "node", _("Decision"), "graph:neighbourhood", placeholder="dec_12",
                    more=(("relation", "SIMILAR_TO"), ("kind", "decision"), ("score", "0.8"), ("depth", "1"), ("view", "table")),
                ),
            ),
            Question(
                "contradict", _("Which contradict it?"), ("GET /links?node={node_id}&relation=CONTRADICTS",),
                field=Field(
                    "node", _("Record"), "graph:neighbourhood", placeholder="dec_12",
                    more=(("relation", "CONTRADICTS"), ("depth", "1"), ("view", "table")),
                ),
            ),
        ),
    ),
    Group(
        _("While it runs"),
        (
            Question(
                "session", _("How does a session stand?"), ("GET /sessions/{session_id}",),
                _always(Asks(_("still open"), "session", (("open", "true"),))),
                Field("id", _("Session"), "work_sessions:by_session_id", placeholder="ses-8841"),
            ),
            Question(
                "incident", _("Have we seen an incident like this? What was done, what did it cost, was a person called?"),
                ('POST /incidents {"text": "…", "k": 5}',),
                _always(Asks(_("failed runs"), "run", (("status", "failed"),)), Asks(_("a person was called"), "run", (("escalated", "true"),))),
                page="incident:ask",
            ),
            Question(
                "host", _("Which runs with this in their trigger failed?"), ("GET /runs?payload=host=db-2&status=failed",),
                field=Field("payload", _("Path and value"), "runs:list", more=(("status", "failed"),), placeholder="host=db-2"),
            ),
            Question(
                "told", _("What will an agent be told about a subject?"), ('POST /context {"task": "X", "budget": 1500}',),
                field=Field("text", _("Task"), "recall:page", placeholder="cache order totals"),
            ),
        ),
    ),
    Group(
        _("What the memory needs"),
        (
            Question(
                "waiting", _("What waits for a person?"), ("GET /search?q=is:unreviewed", "GET /projects/{slug}"), queues=("review",)
            ),
            Question("stale", _("What is stale?"), ("GET /decisions?unchanged_for=180",), queues=("stale",)),
            Question("duplicated", _("What is duplicated?"), ("GET /links?relation=DUPLICATE_OF",), queues=("duplicates",)),
            Question("contradictory", _("What contradicts something?"), ("GET /links?relation=CONTRADICTS",), queues=("conflicts",)),
            Question(
                "unused", _("What was never used?"), ("GET /patterns?usage_max=0", "GET /decisions?recalled=false"),
                _always(
                    Asks(_("patterns never used"), "pattern", (("usage_max", "0"),)),
                    Asks(_("decisions never told to an agent"), "decision", (("recalled", "false"),)),
                ),
            ),
        ),
    ),
)  # fmt: skip


def all_questions() -> list[Question]:
    return [question for group in GROUPS for question in group.questions]

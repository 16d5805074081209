"""View-models of the answers page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from curation.inbox.queues import queue_named
from desk.answers.queries import query_of
from desk.answers.questions import GROUPS, SEVERE, Asks, Field, Question
from projects.models import Project
from records.kinds import kind_named
from records.paging import count_label


@dataclass
class LinkRow:
    """A list that answers, and how long it is; `count_label` is empty for a page that is no list."""

    label: str
    url: str
    count_label: str = ""
    count: int | None = None


@dataclass
class FieldRow:
    field: Field
    id: str
    url: str
    options: list[str]


@dataclass
class AnswerRow:
    key: str
    text: str
    links: list[LinkRow]
    field: FieldRow | None
    calls: tuple[str, ...]


@dataclass
class GroupRow:
    title: str
    answers: list[AnswerRow]


def group_rows(
    project: Project, today: date, counts: Mapping[Any, int], options: Mapping[str, list[str]]
) -> list[GroupRow]:
    return [
        GroupRow(str(group.title), [_answer(project, today, one, counts, options) for one in group.questions])
        for group in GROUPS
    ]


def _answer(
    project: Project,
    today: date,
    question: Question,
    counts: Mapping[Any, int],
    options: Mapping[str, list[str]],
) -> AnswerRow:
    links = [_list(project, asks, counts) for asks in question.asks(today)]
    if question.page:
        links.insert(0, LinkRow(_("Paste an alert"), reverse(question.page, args=[project.slug])))
    links += [_queue(project, name, counts) for name in question.queues if queue_named(name)]
    if question.categories:
        links += [_category(project, key[1], counts) for key in counts if key[0] == "category"]
    return AnswerRow(
        question.key, str(question.text), links, _field(project, question, options), question.calls
    )


def _list(project: Project, asks: Asks, counts: Mapping[Any, int]) -> LinkRow:
    query = query_of(asks)
    url = reverse(kind_named(asks.kind).list_url_name, args=[project.slug])
    count = counts[asks.kind, asks.filters]
    return LinkRow(str(asks.label), f"{url}?{query}" if query else url, count_label(count), count)


def _queue(project: Project, name: str, counts: Mapping[Any, int]) -> LinkRow:
    queue = queue_named(name)
    assert queue is not None
    url = f"{reverse('inbox:page', args=[project.slug])}?{urlencode({'queue': name})}"
    return LinkRow(str(queue.label), url, count_label(counts[name]), counts[name])


def _category(project: Project, name: str, counts: Mapping[Any, int]) -> LinkRow:
    query = urlencode([("category", name), *SEVERE])
    count = counts["category", name]
    return LinkRow(
        name, f"{reverse('pitfalls:list', args=[project.slug])}?{query}", count_label(count), count
    )


def _field(project: Project, question: Question, options: Mapping[str, list[str]]) -> FieldRow | None:
    if question.field is None:
        return None
    url = reverse(question.field.to, args=[project.slug])
    return FieldRow(question.field, f"ask-{question.key}", url, options.get(question.field.suggests, []))

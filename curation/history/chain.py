"""The belief of a record as a short chain of steps in words, for its page part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from curation.history.belief import Belief, Vote
from records.kinds import kind_of
from records.models import Relation, ReviewState, Revision
from records.pages.history import VERBS
from records.pages.rows import places_of, record_url, reversed_label, title_of
from records.paging import COUNT_EXACT_TO, count_label

CAUSES = {
    "adjusted": gettext_lazy("a person set it"),
    "sql": gettext_lazy("set by SQL"),
    "worked": gettext_lazy("it worked"),
    "failed": gettext_lazy("it failed"),
    "met_again": gettext_lazy("met again"),
}


LINKS_SHOWN = 12
# The state that each act of a review leaves.
LEADS_TO = {
    "approve": ReviewState.APPROVED, "confirm": ReviewState.APPROVED, "reject": ReviewState.REJECTED,
    "quarantine": ReviewState.QUARANTINED, "unreview": ReviewState.UNREVIEWED,
}  # fmt: skip


@dataclass
class Line:
    """One fact under a step: words, the record or page that it is about, what somebody said, where and when."""

    text: str
    link_text: str = ""
    url: str = ""
    quote: str = ""
    when: datetime | None = None
    node_id: str = ""
    places: list[tuple[str, str, str]] = field(default_factory=list)  # (label, text, url or "")


@dataclass
class Step:
    title: str
    lines: list[Line] = field(default_factory=list)
    level: str = ""
    more: str = ""
    more_url: str = ""


def steps_of(belief: Belief, record: Any) -> list[Step]:
    """In the order of an argument: source, what it stands on, who changed and vetted it, evidence, who acts on it."""
    slug = record.project.slug
    return [
        step
        for part in (
            _source(belief, record, slug),
            _stands_on(belief, record),
            _edits(belief, record, slug),
            _reviews(belief, record),
            _evidence(belief, slug),
            _outcomes(belief, record, slug),
            _readers(belief, record, slug),
        )
        for step in part
    ]


def _source(belief: Belief, record: Any, slug: str) -> Iterator[Step]:
    created = belief.created
    told = {"who": record.source_name or _("unknown"), "what": record.get_source_kind_display()}
    line = Line(_("through %s") % created.get_channel_display() if created else "", when=record.created_at)
    line.places = places_of(slug, record.source_session or "", record.source_run or "")
    if created is not None and created.token is not None:
        line.places.append((_("with the token"), str(created.token), ""))
    line.quote = created.reason if created is not None else ""
    lines = [line, Line(_("trust %s of 1.00") % f"{record.trust:.2f}")]
    origin = getattr(record, "origin", None)
    if isinstance(origin, dict) and isinstance(origin.get("path"), str):
        lines.append(Line(_("from the document"), link_text=origin["path"][:200]))
    step = Step(_("Written by %(who)s (%(what)s)") % told, lines)
    if created is not None and created.act:
        step.more, step.more_url = _("What came of that act"), _radius(slug, act=created.act)
    yield step


def _radius(slug: str, **asked: str) -> str:
    return f"{reverse('radius:page', args=[slug])}?{urlencode(asked)}"


def _stands_on(belief: Belief, record: Any) -> Iterator[Step]:
    if belief.merged_in:
        number = belief.merged_count
        title = ngettext("%(n)s record was merged into it", "%(n)s records were merged into it", number)
        yield Step(title % {"n": count_label(number)}, [_about("", other) for other in belief.merged_in])
    if belief.links:
        lines = []
        for relation, outward, other in belief.links[:LINKS_SHOWN]:
            known = Relation(relation)
            lines.append(_about(str(known.label if outward else reversed_label(known)), other))
        contradicted = any(relation == Relation.CONTRADICTS for relation, _outward, _other in belief.links)
        step = Step(_("It stands beside"), lines, level="warn" if contradicted else "")
        if belief.links_cut or len(belief.links) > LINKS_SHOWN:
            step.more, step.more_url = _("More links are on its page"), record_url(record)
        yield step


def _about(text: str, other: Any) -> Line:
    return Line(text, link_text=title_of(other), url=record_url(other), node_id=other.node_id)


def _edits(belief: Belief, record: Any, slug: str) -> Iterator[Step]:
    if not belief.edits:
        return
    title = ngettext("Changed %(n)s time since", "Changed %(n)s times since", belief.edit_count)
    step = Step(title % {"n": count_label(belief.edit_count)}, [_acted(row) for row in belief.edits[:3]])
    step.more, step.more_url = _("Word for word"), reverse("records:history", args=[slug, record.node_id])
    yield step


def _acted(row: Revision) -> Line:
    told = {"verb": VERBS.get(row.verb, row.verb), "who": row.actor_name, "door": row.get_channel_display()}
    return Line(_("%(verb)s by %(who)s through %(door)s") % told, quote=row.reason, when=row.created_at)


def _reviews(belief: Belief, record: Any) -> Iterator[Step]:
    """By its history, as far as that tells how it came to the state that it has."""
    state, told = record.review_state, [_acted(row) for row in belief.reviews]
    label = record.get_review_state_display()
    if state == ReviewState.UNREVIEWED:
        title = _("Its review was taken back") if told else _("Nobody has reviewed it")
        yield Step(title, told, level="warn")
    elif not told:
        line = Line(_("by %s") % _reviewer(record), when=record.reviewed_at)
        yield Step(_("%s without a review of its own") % str(label).capitalize(), [line])
    else:
        later = Line(_("It is %s now: an undo, an older version or plain SQL made it so since.") % label)
        holds = LEADS_TO[belief.reviews[0].verb] == state
        yield Step(_("Reviewed"), told if holds else [later, *told])


def _reviewer(record: Any) -> str:
    """Who let it in: its own writer, a rule of the project, or whoever wrote the row."""
    if record.reviewed_by is not None:
        return str(record.reviewed_by.get_username())
    return _("a rule") if record.reviewed_at else _("whoever wrote the row")


def _evidence(belief: Belief, slug: str) -> Iterator[Step]:
    counts = belief.vote_counts
    said = []
    for cause, one, several in (
        ("worked", _("it worked %(n)s time"), _("it worked %(n)s times")),
        ("failed", _("it failed %(n)s time"), _("it failed %(n)s times")),
        ("met_again", _("met %(n)s time"), _("met %(n)s times")),
    ):
        number = counts.get(cause, 0)
        if number:
            said.append((one if number == 1 else several) % {"n": f"{number:,}"})
    if said or belief.votes:
        title = _("Evidence: %s") % ", ".join(said) if said else _("Evidence")
        yield Step(title, [_voted(vote, slug) for vote in belief.votes])


def _voted(vote: Vote, slug: str) -> Line:
    told = {"what": CAUSES.get(vote.cause, vote.cause), "who": vote.actor}
    return Line(
        _("%(what)s, says %(who)s") % told,
        quote=vote.note,
        when=vote.when,
        places=places_of(slug, vote.session, vote.run),
    )


def _outcomes(belief: Belief, record: Any, slug: str) -> Iterator[Step]:
    if kind_of(record).name == "decision" and not belief.outcomes:
        yield Step(_("No outcome has been recorded"))
    if belief.outcomes:
        lines = [
            Line(
                "",
                link_text=title_of(each),
                url=record_url(each),
                node_id=each.node_id,
                when=each.occurred_at,
            )
            for each in belief.outcomes
        ]
        title = ngettext("%(n)s outcome followed", "%(n)s outcomes followed", belief.outcome_count)
        yield Step(title % {"n": count_label(belief.outcome_count)}, lines)


def _readers(belief: Belief, record: Any, slug: str) -> Iterator[Step]:
    readers = belief.readers
    if not readers.times:
        yield Step(_("No agent was told it yet"))
        return
    is_more = readers.times > COUNT_EXACT_TO
    told = {
        "times": ngettext("%(n)s time", "%(n)s times", readers.times) % {"n": count_label(readers.times)},
        "agents": ngettext("%(n)s agent", "%(n)s agents", readers.agents)
        % {"n": _at_least(readers.agents, is_more)},
        "runs": ngettext("%(n)s run", "%(n)s runs", readers.runs) % {"n": _at_least(readers.runs, is_more)},
    }
    title = (
        _("Told %(times)s, to %(agents)s in %(runs)s") if readers.runs else _("Told %(times)s, to %(agents)s")
    )
    step = Step(title % told)
    for reader in readers.latest:
        times = ngettext("%(n)s time", "%(n)s times", reader.times) % {"n": _at_least(reader.times, is_more)}
        step.lines.append(
            Line(
                _("%(who)s, %(times)s") % {"who": reader.agent or _("unknown"), "times": times},
                when=reader.last,
                places=places_of(slug, reader.session, reader.run),
            )
        )
    if is_more:
        step.lines.append(Line(_("The newest 10,000 readings are looked at.")))
    if record.reviewed_at:
        after = ngettext(
            "%(n)s time since its latest review", "%(n)s times since its latest review", readers.since_review
        )
        step.lines.append(Line(after % {"n": count_label(readers.since_review)}))
    yield step


def _at_least(number: int, is_more: bool) -> str:
    return f"{number:,}+" if is_more else f"{number:,}"

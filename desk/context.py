"""What the frame of every page shows. Lazy: a fragment or an error page that draws no frame asks nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.formats import date_format, time_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from curation.saved.items import kept_query, pages
from curation.saved.queries import Shortcut, shortcuts
from desk.counts import INBOX, KindCount, counts_of
from desk.first_run import FirstRun, first_run_of
from desk.queries import newest_and_lag, newest_node, why_nothing_moves
from graph.queries import GraphLag, away_since
from projects.access import NOBODY, Access, Capability, visible_projects
from projects.models import Project
from projects.snippets import address_of, import_command, similar_command
from records.paging import count_label, short_label

# A save reaches the graph within a moment; only what waits longer is worth a banner.
NOTICED_SECONDS = 10


@dataclass(frozen=True)
class NavItem:
    label: str
    url: str
    key: str
    current: bool
    count_label: str = ""
    waiting_label: str = ""  # none where nothing waits


SAVED_IN_RAIL = 8
# label, URL name, key after `g`, kind whose records it counts
NAV: tuple[tuple[tuple[Any, str, str, str], ...], ...] = (
    (
        (gettext_lazy("Inbox"), "inbox:page", "i", INBOX),
        (gettext_lazy("Overview"), "desk:overview", "o", ""),
        (gettext_lazy("Decisions"), "decisions:list", "d", "decision"),
        (gettext_lazy("Patterns"), "patterns:list", "p", "pattern"),
        (gettext_lazy("Pitfalls"), "pitfalls:list", "f", "pitfall"),
        (gettext_lazy("Sessions"), "work_sessions:list", "s", "session"),
        (gettext_lazy("Runs"), "runs:list", "r", "run"),
    ),
    (
        (gettext_lazy("Graph"), "graph:neighbourhood", "g", ""),
        (gettext_lazy("Recall"), "recall:page", "c", ""),
        (gettext_lazy("Incident"), "incident:ask", "e", ""),
        (gettext_lazy("Answers"), "answers:page", "a", ""),
        (gettext_lazy("Timeline"), "timeline:page", "l", ""),
        (gettext_lazy("History"), "history:list", "y", ""),
    ),
    (
        (gettext_lazy("Connect"), "connect:page", "n", ""),
        (gettext_lazy("Project"), "projects:settings", "t", ""),
    ),
)

# Where one looks for memories; not on a record, a form or the project page, which says the same at length.
FIRST_RUN_PAGES = ("overview", "list")


class Desk:
    """`desk` in templates."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self.project: Project | None = getattr(request, "project", None)
        self._access: Access = getattr(request, "access", NOBODY)

    @property
    def _namespace(self) -> str:
        match = self._request.resolver_match
        # A part that is asked for later is drawn as the page that it goes into.
        shown: str = getattr(self._request, "shown_namespace", "")
        return shown or (match.namespace if match is not None else "")

    @cached_property
    def _read(self) -> tuple[int, int, int]:
        return newest_and_lag(self.project) if self.project else (0, 0, 0)

    @property
    def newest(self) -> int:
        """The number of the project's newest history row; 0 before there is one."""
        return self._read[0]

    @cached_property
    def projects(self) -> list[Project]:
        return visible_projects(self._access)

    @cached_property
    def _counted(self) -> tuple[dict[str, KindCount], int]:
        return counts_of(self.project, self.newest) if self.project else ({}, 0)

    @property
    def counts(self) -> dict[str, KindCount]:
        return self._counted[0]

    @property
    def in_inbox(self) -> int:
        """What waits to be reviewed; capped."""
        return self._counted[1]

    @cached_property
    def waiting(self) -> dict[str, int]:
        """Unreviewed records by kind."""
        return {name: counted.waiting for name, counted in self.counts.items()}

    @property
    def rail_key(self) -> str:
        """What the rail shows depends on this and on the language."""
        if self.project is None:
            return ""
        numbers = ",".join(f"{c.count}/{c.waiting}" for c in self.counts.values())
        mine = ",".join(f"{one.name}\n{one.path}" for one in self.saved[:SAVED_IN_RAIL])
        return f"{self.project.slug} {self._namespace} {self.sees_health} {self.in_inbox} {numbers} {mine}"

    @cached_property
    def saved(self) -> list[Shortcut]:
        """The reader's own saved filters of this project."""
        user = self._request.user
        return shortcuts(user, self.project) if self.project is not None and user.is_authenticated else []

    @property
    def _page(self) -> str:
        match = self._request.resolver_match
        return match.view_name if match is not None else ""

    @cached_property
    def saved_here(self) -> list[Shortcut]:
        """Those of this very page."""
        return [one for one in self.saved if one.page == self._page]

    @cached_property
    def asked_query(self) -> str:
        """This page's filter as it would be kept."""
        return kept_query(self._request.GET)

    @property
    def save_url(self) -> str:
        """Where this page's filter is given a name; empty where there is none, or it has one."""
        known = {one.query for one in self.saved_here}
        if (
            self.project is None
            or not self.asked_query
            or self._page not in pages()
            or self.asked_query in known
        ):
            return ""
        asked = urlencode({"page": self._page, "query": self.asked_query})
        return f"{reverse('saved:save', args=[self.project.slug])}?{asked}"

    @cached_property
    def nav(self) -> list[list[NavItem]]:
        if self.project is None:
            return []
        sections = [[item for entry in section if (item := self._item(*entry))] for section in NAV]
        if self.sees_health:
            sections[-1].append(NavItem(_("Health"), self.health_url, "h", current=False))
        if self.saved:
            mine = [NavItem(one.name, one.path, "", current=False) for one in self.saved[:SAVED_IN_RAIL]]
            all_of_them = reverse("saved:list", args=[self.project.slug])
            sections.insert(
                1, [*mine, NavItem(_("Saved filters"), all_of_them, "", self._namespace == "saved")]
            )
        return [section for section in sections if section]

    def _item(self, label: Any, url_name: str, key: str, kind: str) -> NavItem | None:
        assert self.project is not None
        try:
            url = reverse(url_name, args=[self.project.slug])
        except NoReverseMatch:  # an app that this desk runs without
            return None
        current = self._namespace == url_name.partition(":")[0]
        if kind == INBOX:
            return NavItem(str(label), url, key, current, short_label(self.in_inbox) if self.in_inbox else "")
        counted = self.counts.get(kind)
        if counted is None:
            return NavItem(str(label), url, key, current)
        waiting = short_label(counted.waiting) if counted.waiting else ""
        return NavItem(str(label), url, key, current, short_label(counted.count), waiting)

    @cached_property
    def graph_state(self) -> dict[str, str] | None:
        """Whether vectors and graph show what was written; how far they are behind."""
        if self.project is None:
            return None
        try:
            url = self.health_url or reverse("graph:neighbourhood", args=[self.project.slug])
        except NoReverseMatch:
            url = reverse("desk:overview", args=[self.project.slug])
        return {"level": _lag_level(self.lag), "text": _lag_text(self.lag), "url": url}

    @cached_property
    def first_run(self) -> FirstRun | None:
        match = self._request.resolver_match
        if not self.can_write or match is None or match.url_name not in FIRST_RUN_PAGES:
            return None
        return first_run_of(self._request, self.project)

    @property
    def similar_command(self) -> str:
        """curl for what is like the newest decision; empty where there is none."""
        newest = newest_node(self.project, "decision") if self.project else None
        return similar_command(address_of(self._request), newest) if newest else ""

    @cached_property
    def lag(self) -> GraphLag:
        _newest, waiting, dead = self._read
        return GraphLag(waiting, dead, away_since())

    @property
    def import_command(self) -> str:
        """For the folder of decision records that a repository already has."""
        return import_command(self.project) if self.project else ""

    @cached_property
    def notices(self) -> list[dict[str, str]]:
        """What is wrong with the desk as a whole and needs somebody."""
        if self.project is None:
            return []
        hindered = why_nothing_moves(timezone.now()) if self.lag.waiting else None
        texts = ["" if hindered is None else _hindered_text(hindered)]
        texts.append(_graph_notice(self.lag) if settings.GRAPH_URL else "")
        more = {"url": self.health_url, "link_text": _("Health")}
        return [{"level": "warn", "text": text, **more} for text in texts if text]

    def _may(self, capability: Capability) -> bool:
        return self.project is not None and self._access.may(self.project.pk, capability)

    @cached_property
    def can_write(self) -> bool:
        return self._may(Capability.WRITE)

    @cached_property
    def can_review(self) -> bool:
        return self._may(Capability.REVIEW)

    @cached_property
    def can_manage(self) -> bool:
        return self._may(Capability.MANAGE)

    @property
    def sees_health(self) -> bool:
        return self._access.manages_any

    @property
    def health_url(self) -> str:
        """Empty for those who may not see it."""
        return reverse("health:page") if self.sees_health else ""

    @property
    def zone(self) -> str:
        return timezone.get_current_timezone_name()


def _hindered_text(problem: str) -> str:
    if problem:
        return _("New memories are not searchable yet: %s") % problem
    return _(
        "New memories are not searchable: no worker runs. An operator starts it with manage.py run_worker."
    )


def _lag_level(lag: GraphLag) -> str:
    if lag.dead or lag.away_since:
        return "down"
    return "behind" if lag.waiting else "ok"


def _lag_text(lag: GraphLag) -> str:
    if lag.away_since:
        return _("graph away")
    if lag.dead:
        return ngettext("%(n)s record failed to reach the graph", "%(n)s records failed to reach the graph", lag.dead) % {"n": lag.dead}  # fmt: skip
    if lag.waiting:
        return _("graph behind by %s") % count_label(lag.waiting)
    return _("graph up to date")


def _graph_notice(lag: GraphLag) -> str:
    """What a reader must know of the answers: that Neo4j is silent, or has been behind for longer than a moment."""
    told = {"n": count_label(lag.waiting), "away": _clock(lag.away_since)}
    if lag.away_since and lag.waiting:
        return _("Graph away since %(away)s and behind by %(n)s; the database answers instead.") % told
    if lag.away_since:
        return _("Graph away since %(away)s; the database answers instead.") % told
    if lag.since is not None and lag.since < timezone.now() - timedelta(seconds=NOTICED_SECONDS):
        told["since"] = _clock(lag.since)
        return _("Graph behind by %(n)s since %(since)s; the database answers instead.") % told
    return ""


def _clock(moment: datetime | None) -> str:
    """14:02, with the day where it is not today's."""
    if moment is None:
        return ""
    local, today = timezone.localtime(moment), timezone.localdate()
    return time_format(local, "H:i") if local.date() == today else date_format(local, "Y-m-d H:i")


def desk(request: HttpRequest) -> dict[str, object]:
    return {"desk": Desk(request)}

"""Every page of the URLconf, asked by everybody, by GET and by POST. A route that the table misses fails the test.

To add a page: one line in PAGES with what it needs (its capability) and the methods that it answers. Routes of the
agents' API are the same kind of test in tests/agent_api.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from curation.models import BulkJob, SavedFilter
from decisions.actions import create_decision, record_outcome
from desk.incident.actions import keep_alert
from patterns.actions import create_pattern
from pitfalls.actions import create_pitfall
from projects.access import ROLE_GIVES, Capability
from projects.models import Invitation, Membership, Role, User
from records.links import link
from records.models import Relation, Revision
from runs.actions import record_run, remember
from tests.conftest import make_token
from work_sessions.actions import start_session

READ, WRITE, REVIEW, MANAGE = Capability.READ, Capability.WRITE, Capability.REVIEW, Capability.MANAGE
GET, POST, BOTH = {"GET"}, {"POST"}, {"GET", "POST"}

# name of the route -> (what one must be allowed in the project, the methods it answers)
PAGES: dict[str, tuple[Capability, set[str]]] = {
    "desk:overview": (READ, GET),
    "desk:hide_first_run": (READ, POST),
    "desk:fresh": (READ, GET),
    "search": (READ, GET),
    "search_complete": (READ, GET),
    "recall:page": (READ, GET),
    "answers:page": (READ, GET),
    "timeline:page": (READ, GET),
    "incident:ask": (READ, BOTH),
    "incident:alert": (READ, GET),
    "projects:settings": (READ, GET),
    "projects:rename": (MANAGE, POST),
    "projects:change_policy": (MANAGE, POST),
    "projects:add_alias": (MANAGE, POST),
    "projects:remove_alias": (MANAGE, POST),
    "projects:add_member": (MANAGE, POST),
    "projects:change_role": (MANAGE, POST),
    "projects:remove_member": (MANAGE, POST),
    "projects:reset_member": (MANAGE, POST),
    "projects:invite": (MANAGE, POST),
    "projects:withdraw_invitation": (MANAGE, POST),
    "projects:create_token": (MANAGE, POST),
    "projects:revoke_token": (MANAGE, POST),
    "saved:list": (READ, GET),
    "saved:save": (READ, BOTH),
    "saved:change": (READ, POST),
    "saved:delete": (READ, POST),
    "saved:make_feed": (READ, POST),
    "saved:withdraw_feed": (READ, POST),
    "connect:page": (READ, GET),
    "connect:seen": (READ, GET),
    "connect:token": (MANAGE, POST),
    "history:list": (READ, GET),
    "history:change": (READ, GET),
    "history:belief": (READ, GET),
    "history:as_of": (READ, GET),
    "written:page": (READ, GET),
    "written:review": (REVIEW, POST),
    "merging:page": (REVIEW, BOTH),
    "radius:page": (READ, GET),
    "radius:quarantine": (REVIEW, POST),
    "pairs:compare": (READ, GET),
    "pairs:settle": (REVIEW, POST),
    "pairs:keep_apart": (REVIEW, POST),
    "records:history": (READ, GET),
    "records:review": (REVIEW, BOTH),
    "records:archive": (WRITE, BOTH),
    "records:restore": (WRITE, BOTH),
    "records:erase": (MANAGE, BOTH),
    "records:restore_version": (WRITE, POST),
    "records:undo": (WRITE, POST),
    "records:link": (WRITE, BOTH),
    "records:unlink": (WRITE, POST),
    "decisions:list": (READ, GET),
    "decisions:create": (WRITE, BOTH),
    "decisions:detail": (READ, GET),
    "decisions:edit": (WRITE, BOTH),
    "decisions:status": (WRITE, BOTH),
    "decisions:supersede": (WRITE, BOTH),
    "decisions:contradict": (WRITE, BOTH),
    "decisions:settle_import": (WRITE, POST),
    "decisions:record_outcome": (WRITE, BOTH),
    "decisions:outcomes": (READ, GET),
    "decisions:outcome": (READ, GET),
    "decisions:outcome_edit": (WRITE, BOTH),
    "patterns:list": (READ, GET),
    "patterns:create": (WRITE, BOTH),
    "patterns:detail": (READ, GET),
    "patterns:edit": (WRITE, BOTH),
    "patterns:confidence": (REVIEW, BOTH),
    "patterns:retire": (WRITE, BOTH),
    "patterns:unretire": (WRITE, BOTH),
    "patterns:worked": (WRITE, BOTH),
    "patterns:failed": (WRITE, BOTH),
    "pitfalls:list": (READ, GET),
    "pitfalls:create": (WRITE, BOTH),
    "pitfalls:detail": (READ, GET),
    "pitfalls:edit": (WRITE, BOTH),
    "pitfalls:severity": (WRITE, BOTH),
    "pitfalls:met": (WRITE, BOTH),
    "work_sessions:list": (READ, GET),
    "work_sessions:by_session_id": (READ, GET),
    "work_sessions:detail": (READ, GET),
    "work_sessions:end": (WRITE, BOTH),
    "runs:list": (READ, GET),
    "runs:running": (READ, GET),
    "runs:detail": (READ, GET),
    "runs:memory": (READ, GET),
    "inbox:page": (READ, GET),
    "inbox:pane": (READ, GET),
    "inbox:diff": (READ, GET),
    "inbox:act": (REVIEW, POST),
    "inbox:bulk": (REVIEW, POST),
    "inbox:job": (REVIEW, GET),
    "inbox:step": (REVIEW, POST),
    "graph:neighbourhood": (READ, GET),
    "graph:data": (READ, BOTH),  # POST: the nodes drawn already outgrow an address
    "graph:path": (READ, GET),
}

# Pages of no project, for admins of any and operators: what they show and do stays within their own projects.
MANAGED: dict[str, set[str]] = {
    "health:page": GET,
    "health:retry": POST,
    "health:project_again": POST,
    "health:count": POST,
}

# Pages of no project -> by GET and by POST: the answer to somebody not signed in, to members, to an operator.
# A record's own address leads a member of its project there and is absent for the others.
OUTSIDE: dict[str, tuple[tuple[int, int, int], tuple[int, int, int]]] = {
    "home": ((302, 302, 200), (302, 405, 405)),  # the operator sees several
    "login": ((200, 200, 200), (200, 200, 200)),
    "login_link": ((410, 410, 410), (410, 410, 410)),
    "logout": ((302, 405, 405), (302, 302, 302)),
    "signed_out": ((200, 200, 200), (405, 405, 405)),
    "password_change": ((302, 200, 200), (302, 200, 200)),
    "password_change_done": ((302, 200, 200), (302, 405, 405)),
    "feed": ((404, 404, 404), (405, 405, 405)),
    "unsubscribe": ((410, 410, 410), (410, 410, 410)),
    "password_reset": ((410, 410, 410), (410, 410, 410)),
    "invitation": ((410, 410, 410), (410, 410, 410)),
    "preferences": ((302, 200, 200), (302, 303, 303)),
    "choose_theme": ((302, 405, 405), (302, 303, 303)),
    "accounts": ((302, 403, 200), (302, 405, 405)),
    "account_make": ((302, 405, 405), (302, 403, 422)),
    "account_reset": ((302, 405, 405), (302, 403, 201)),
    "account_deactivate": ((302, 405, 405), (302, 403, 303)),
    "account_reactivate": ((302, 405, 405), (302, 403, 303)),
    "new_project": ((302, 403, 200), (302, 403, 422)),
    "api_reference": ((302, 200, 200), (302, 405, 405)),
    "records:node": ((302, 302, 302), (302, 405, 405)),
    "healthz": ((200, 200, 200), (200, 200, 200)),
    "metrics": ((200, 200, 200), (405, 405, 405)),
    "mcp": ((405, 405, 405), (415, 415, 415)),  # for agents with a token, and JSON
}
# What belongs to one person (the viewer, here): to another member it is absent, whatever their role.
OWN = {"saved:change", "saved:delete", "saved:make_feed", "saved:withdraw_feed"}
NAMELESS = {"admin/login/"}  # leads to login
CAST = ("anonymous", "stranger", "viewer", "curator", "admin", "operator")


@dataclass(frozen=True)
class Route:
    name: str
    pattern: str
    view: Any


def routes(resolver: Any = None, prefix: str = "", spaces: tuple[str, ...] = ()) -> Iterator[Route]:
    for entry in (resolver or get_resolver()).url_patterns:
        text = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry, text, (*spaces, entry.namespace) if entry.namespace else spaces)
        elif isinstance(entry, URLPattern):
            yield Route(":".join([*spaces, entry.name or ""]), text, entry.callback)


def page_routes() -> list[Route]:
    """All but the admin (Django's own, for staff only) and the agents' API."""
    return [
        route
        for route in routes()
        if not route.name.startswith(("admin:", "api:"))
        and not route.pattern.startswith(("admin/(", "^api", "^\\.well-known"))
    ]


def test_every_page_is_in_the_table():
    names = {route.name for route in page_routes() if route.pattern not in NAMELESS}
    known = {*PAGES, *MANAGED, *OUTSIDE}
    assert names - known == set(), "add these routes to PAGES"
    assert known - names == set(), "these routes are gone"


def test_every_page_of_a_project_asks_for_the_capability_of_the_table():
    asked = {
        route.name: getattr(route.view, "capability", None) for route in page_routes() if route.name in PAGES
    }
    assert asked == {name: capability for name, (capability, _methods) in PAGES.items()}


@pytest.fixture
def arguments(project, agent, admin_user, viewer_user) -> dict[str, dict[str, Any]]:
    """What fills the addresses, by the route's namespace; a route's own name goes first."""
    decision = create_decision(actor=agent, project=project, title="Use Redis", decision="Cache totals.")
    other = create_decision(actor=agent, project=project, title="No cache", decision="Never.")
    outcome = record_outcome(actor=agent, decision=decision, type="success")
    made = link(decision, Relation.RELATES_TO, other, actor=agent)
    run = record_run(actor=agent, project=project, agent_name="order-bot")
    memory = remember(actor=agent, project=project, agent_name="order-bot", summary="It went well.", run=run)
    token, _text = make_token(project)
    member = Membership.objects.get(user=viewer_user)
    keys = {
        "decisions": decision.pk,
        "decisions:outcome": outcome.pk,
        "decisions:outcome_edit": outcome.pk,
        "patterns": create_pattern(actor=agent, project=project, category="cache", name="Cache-aside").pk,
        "pitfalls": create_pitfall(actor=agent, project=project, category="cache", title="Stampede").pk,
        "work_sessions": start_session(actor=agent, project=project, session_id="ses-1").pk,
        "runs": run.pk,
        "runs:memory": memory.pk,
        "saved": SavedFilter.objects.create(
            user=viewer_user, project=project, name="mine", page="decisions:list"
        ).pk,
        "history": Revision.objects.filter(node_id=decision.node_id).latest("pk").pk,
    }
    two = {"a": decision.node_id, "b": other.node_id}
    fields = {
        "pairs:compare": two,
        "pairs:settle": {**two, "verdict": "unrelated"},
        "pairs:keep_apart": two,
        "saved:save": {"page": "decisions:list", "query": "tag=redis"},
        "graph:data": {"node": decision.node_id},
        "merging:page": {"into": decision.node_id, "from": other.node_id},
        "inbox:act": {"node_id": decision.node_id, "verb": "approve"},
        "inbox:bulk": {"record": f"{decision.node_id}:1", "verb": "approve"},
        "graph:path": {"node": decision.node_id, "to": other.node_id},
        "work_sessions:by_session_id": {"id": "ses-1"},
        "written:page": {"session": "ses-1"},
        "written:review": {"session": "ses-1"},
    }
    return {
        "fields": fields,
        "keys": keys,
        "values": {
            "node_id": decision.node_id,
            "other_id": other.node_id,
            "job_id": BulkJob.objects.create(
                project=project, user=admin_user, act="a" * 32, verb="approve"
            ).pk,
            "link_id": made.pk,
            "act": Revision.objects.filter(node_id=decision.node_id, verb="link").values_list(
                "act", flat=True
            )[0],
            "version": 1,
            "member_id": member.pk,
            "token_id": token.pk,
            "key": keep_alert(project=project, text="The cache is cold", agent="", user=viewer_user).key,
            "user_id": viewer_user.pk,
            "text": "no-such-link",
            "invitation_id": Invitation.objects.create(
                project=project, digest="x", expires_at=timezone.now() + timedelta(days=1)
            ).pk,
            "alias_id": project.aliases.create(slug="old-shop").pk,
        },
    }


@pytest.fixture
def clients(project, admin_user, curator_user, viewer_user, stranger_user) -> dict[str, Client]:
    operator = User.objects.create_superuser("olga", password="correct horse battery")
    users = {
        "anonymous": None, "stranger": stranger_user, "viewer": viewer_user, "curator": curator_user,
        "admin": admin_user, "operator": operator,
    }  # fmt: skip
    clients = {}
    for who, user in users.items():
        clients[who] = Client(raise_request_exception=True)
        if user is not None:
            clients[who].force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return clients


def address_of(route: Route, slug: str, arguments: dict[str, dict[str, Any]]) -> str:
    names = list(get_resolver_groups(route.pattern))
    key = arguments["keys"].get(route.name, arguments["keys"].get(route.name.partition(":")[0]))
    known = {"slug": slug, "pk": key, **arguments["values"]}
    return reverse(route.name, kwargs={name: known[name] for name in names})


def get_resolver_groups(pattern: str) -> Iterator[str]:
    """The names of the arguments in `p/<slug:slug>/x/<int:pk>/` or `^p/(?P<slug>…)/`."""
    for part in pattern.split("<")[1:]:
        yield part.partition(">")[0].rpartition(":")[2]


def expected(who: str, method: str, capability: Capability, methods: set[str]) -> set[int]:
    """The answers that are right. Allowed: anything that is an answer of the page itself."""
    if who == "anonymous":
        return {302}
    if method not in methods:
        return {405}
    if who == "stranger":
        return {404}
    granted = set(Capability) if who == "operator" else ROLE_GIVES[Role(who)]
    if capability not in granted:
        return {403}
    return {200, 201, 303, 422} if method == "POST" else {200, 204, 302, 422}


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(PAGES))
def test_everybody_gets_what_the_table_says(name, project, arguments, clients):
    capability, methods = PAGES[name]
    route = next(route for route in page_routes() if route.name == name)
    address = address_of(route, project.slug, arguments)
    wrong = {}
    for who in CAST:
        for method in ("GET", "POST"):
            before = transaction.savepoint()
            response = getattr(clients[who], method.lower())(address, arguments["fields"].get(name, {}))
            transaction.savepoint_rollback(before)  # nobody's act takes away what the next one asks for
            right = expected(who, method, capability, methods)
            if name in OWN and right & {200, 201}:
                right = right if who == "viewer" else {404}
            if response.status_code not in right:
                wrong[who, method] = response.status_code
            elif who == "anonymous" and not response.url.startswith("/login/?next="):
                wrong[who, method] = response.url
    assert wrong == {}


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(MANAGED))
def test_pages_for_managers_ask_whether_one_manages_a_project(name, arguments, clients, monkeypatch):
    monkeypatch.setattr("desk.health.views.start_count", lambda asked_by: True)  # a thread outlives the test
    wrong = {}
    for who in CAST:
        for method in ("GET", "POST"):
            status = getattr(clients[who], method.lower())(reverse(name)).status_code
            if who == "anonymous":
                allowed = {302}
            elif method not in MANAGED[name]:
                allowed = {405}
            else:  # the stranger is an admin elsewhere
                allowed = {403} if who in ("viewer", "curator") else {200, 303, 422}
            if status not in allowed:
                wrong[who, method] = status
    assert wrong == {}


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(OUTSIDE))
def test_pages_of_no_project_answer_as_the_table_says(name, arguments, clients):
    known = {"uidb64": "MQ", "token": "x-y", **arguments["values"]}
    pattern = next(route.pattern for route in page_routes() if route.name == name)
    address = reverse(name, kwargs={each: known[each] for each in get_resolver_groups(pattern)})
    wrong = {}
    for who in CAST:
        column = {"anonymous": 0, "operator": 2}.get(who, 1)
        for method, answers in zip(("GET", "POST"), OUTSIDE[name], strict=True):
            before = transaction.savepoint()
            status = getattr(clients[who], method.lower())(address).status_code
            transaction.savepoint_rollback(before)
            allowed = 404 if (name, who, method) == ("records:node", "stranger", "GET") else answers[column]
            if status != allowed:
                wrong[who, method] = status
    assert wrong == {}

"""Every route x method x token of the API, made from the URLconf: a route that is not listed here fails the suite."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import URLPattern
from django.utils import timezone

from agent_api.urls import v1
from tests.agent_api.conftest import ApiClient
from tests.conftest import make_token

pytestmark = pytest.mark.django_db  # who may do what is no question of the database

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
TOKENS = ("none", "garbage", "expired", "revoked", "elsewhere", "read", "write", "review")
UNKNOWN = ("none", "garbage", "expired", "revoked")

DECISION = {"title": "T", "decision": "D", "project": "shop"}
PATTERN = {"category": "c", "name": "N", "project": "shop"}
SESSION = {"session_id": "of-{token}", "project": "shop"}
PITFALL = {"category": "c", "title": "T", "project": "shop"}


class Route:
    """`path` with its example; what each method of it needs (`read`, `write`, `review`), sends, and answers."""

    def __init__(self, path: str, missing: int = 404, **methods: tuple) -> None:
        self.path, self.missing, self.methods = path, missing, methods
        self.of_one = "{" in path or "ses-1" in path or path == "/projects/shop"


def collection(new: dict) -> dict:
    return {"GET": ("read", None, 200), "POST": ("write", new, 201)}


def item(change: dict) -> dict:
    return {"GET": ("read", None, 200), "PATCH": ("write", {**change, "version": 1}, 200)}


def act(body: dict | None = None, needs: str = "write") -> dict:
    return {"POST": (needs, {"reason": "r"} if body is None else body, 200)}


GET = {"GET": ("read", None, 200)}
APPROVE = {"state": "approved"}

# For `elsewhere` a list is there but empty (200), a project that is not its own is 422, a record 404.
ROUTES = {
    r"^me/?$": Route("/me", missing=200, **GET),
    r"^projects/?$": Route("/projects", missing=200, **GET),
    r"^decisions/?$": Route("/decisions", missing=422, **collection(DECISION)),
    r"^outcomes/?$": Route(
        "/outcomes", missing=422, **collection({"decision": "{decision}", "type": "outage"})
    ),
    r"^patterns/?$": Route("/patterns", missing=422, **collection(PATTERN)),
    r"^pitfalls/?$": Route("/pitfalls", missing=422, **collection(PITFALL)),
    r"^decisions/(?P<node_id>[^/]+)/outcomes/?$": Route(
        "/decisions/{decision}/outcomes", **collection({"type": "success"})
    ),
    r"^decisions/(?P<node_id>[^/]+)/?$": Route("/decisions/{decision}", **item({"title": "New"})),
    r"^outcomes/(?P<node_id>[^/]+)/?$": Route("/outcomes/{outcome}", **item({"type": "cost"})),
    r"^patterns/(?P<node_id>[^/]+)/?$": Route("/patterns/{pattern}", **item({"name": "New"})),
    r"^pitfalls/(?P<node_id>[^/]+)/?$": Route("/pitfalls/{pitfall}", **item({"title": "New"})),
    r"^decisions/(?P<node_id>[^/]+)/status/?$": Route(
        "/decisions/{decision}/status", **act({"status": "pending", "reason": "r"})
    ),
    r"^decisions/(?P<node_id>[^/]+)/supersede/?$": Route("/decisions/{decision}/supersede", **act()),
    r"^decisions/(?P<node_id>[^/]+)/contradict/?$": Route(
        "/decisions/{decision}/contradict", **act({"other": "{pattern}"})
    ),
    r"^patterns/(?P<node_id>[^/]+)/worked/?$": Route("/patterns/{pattern}/worked", **act({"note": "n"})),
    r"^patterns/(?P<node_id>[^/]+)/failed/?$": Route("/patterns/{pattern}/failed", **act({})),
    r"^patterns/(?P<node_id>[^/]+)/confidence/?$": Route(
        "/patterns/{pattern}/confidence", **act({"confidence": 0.9, "reason": "r"}, "review")
    ),
    r"^pitfalls/(?P<node_id>[^/]+)/met-again/?$": Route("/pitfalls/{pitfall}/met-again", **act({})),
    r"^pitfalls/(?P<node_id>[^/]+)/severity/?$": Route(
        "/pitfalls/{pitfall}/severity", **act({"severity": "low", "reason": "r"})
    ),
    r"^sessions/?$": Route("/sessions", missing=422, **collection(SESSION)),
    r"^sessions/(?P<node_id>[^/]+)/?$": Route("/sessions/{session}", **item({"summary": "New"})),
    r"^sessions/(?P<node_id>[^/]+)/context/?$": Route(
        "/sessions/ses-1/context",
        GET=("read", None, 200),
        PUT=("write", {"context": {"a": 1}}, 200),
        PATCH=("write", {"context": {"b": 1}}, 200),
    ),
    r"^sessions/(?P<node_id>[^/]+)/end/?$": Route("/sessions/ses-1/end", **act()),
    r"^runs/?$": Route("/runs", missing=422, **collection({"project": "shop"})),
    r"^runs/(?P<node_id>[^/]+)/?$": Route("/runs/{run}", **item({"trigger_type": "New"})),
    r"^runs/(?P<node_id>[^/]+)/tool_calls/?$": Route(
        "/runs/{run}/tool_calls", **act({"tool_calls": [{"name": "look"}]})
    ),
    r"^runs/(?P<node_id>[^/]+)/finish/?$": Route("/runs/{run}/finish", **act({"status": "failed"})),
    r"^memories/?$": Route("/memories", missing=422, **collection({"project": "shop", "summary": "S"})),
    r"^memories/(?P<node_id>[^/]+)/?$": Route("/memories/{memory}", **item({"summary": "New"})),
    r"^context/?$": Route(
        "/context", missing=422, POST=("read", {"project": "shop", "task": "Cache prices"}, 200)
    ),
    r"^projects/(?P<slug>[^/]+)/?$": Route("/projects/shop", **GET),
    r"^links/?$": Route(
        "/links",
        missing=422,
        **collection({"source": "{decision}", "relation": "RELATES_TO", "target": "{other}"}),
    ),
    r"^links/(?P<id>[^/]+)/?$": Route(
        "/links/{link}?reason=r", GET=("read", None, 200), DELETE=("write", None, 200)
    ),
    r"^cache/(?P<key>.+?)/?$": Route(
        "/cache/of-{token}?project=shop",
        missing=422,
        GET=("read", None, 200),
        PUT=("write", {"value": 1}, 200),
        DELETE=("write", None, 200),
    ),
    r"^incidents/?$": Route(
        "/incidents", missing=422, POST=("read", {"text": "lag", "project": "shop"}, 200)
    ),
    r"^acts/(?P<act>[^/]+)/undo/?$": Route("/acts/{act}/undo", **act({}, "review")),
    r"^search/?$": Route("/search?q=redis", **GET),
    r"^records/(?P<node_id>[^/]+)/history/?$": Route("/records/{decision}/history", **GET),
    r"^records/(?P<node_id>[^/]+)/similar/?$": Route("/records/{decision}/similar", **GET),
    r"^records/(?P<node_id>[^/]+)/neighbourhood/?$": Route("/records/{decision}/neighbourhood", **GET),
}
PLURALS = {one: f"{one}s" for one in ("decision", "outcome", "pattern", "pitfall", "session", "run")} | {
    "memory": "memories"
}
for singular, plural in PLURALS.items():
    for name in ("archive", "restore"):
        ROUTES[rf"^{plural}/(?P<node_id>[^/]+)/{name}/?$"] = Route(
            f"/{plural}/{{{singular}}}/{name}", **act()
        )
    ROUTES[rf"^{plural}/(?P<node_id>[^/]+)/review/?$"] = Route(
        f"/{plural}/{{{singular}}}/review", **act(APPROVE, "review")
    )
NEW = {
    "decisions": DECISION, "patterns": PATTERN, "pitfalls": PITFALL, "runs": {"project": "shop"},
    "outcomes": {"decision": "dec_0", "type": "outage"}, "sessions": {"session_id": "bulk"},
    "memories": {"project": "shop", "summary": "S"},
}  # fmt: skip
for plural, new in NEW.items():
    ROUTES[rf"^{plural}/bulk/?$"] = Route(f"/{plural}/bulk", missing=200, **act({"items": [new]}))
OPEN = {r"^schema/?$"}  # open to all: it tells nothing of any record

SCOPES = {"read": {"read"}, "write": {"read", "write"}, "review": {"read", "write", "review"}}


def expected(route: Route, method: str, token: str) -> int:
    if token in UNKNOWN:
        return 401
    if method not in route.methods:
        return 405
    needs, _body, answer = route.methods[method]
    if token == "elsewhere":
        return 200 if not route.of_one and method == "GET" else route.missing
    return answer if needs in SCOPES[token] else 403


@pytest.fixture
def tokens(project, other_project):
    hour = timedelta(hours=1)
    everything = ("read", "write", "review")
    return {
        "none": None,
        "garbage": "mdk_garbage",
        "expired": make_token(project, everything, expires_at=timezone.now() - hour)[1],
        "revoked": make_token(project, everything, revoked_at=timezone.now() - hour)[1],
        "elsewhere": make_token(other_project, everything)[1],
        "read": make_token(project, ("read",))[1],
        "write": make_token(project, ("read", "write"))[1],
        "review": make_token(project, everything)[1],
    }


def test_every_route_of_the_api_is_in_the_matrix():
    routes = {str(pattern.pattern) for pattern in v1 if isinstance(pattern, URLPattern)}
    assert len(v1) == len(routes)
    assert routes == set(ROUTES) | OPEN


@pytest.mark.parametrize("pattern", ROUTES)
def test_every_cell_answers_as_expected(tokens, decision, outcome, pattern, request, agent, project):
    from patterns.actions import create_pattern
    from pitfalls.actions import create_pitfall
    from runs.actions import record_run, remember
    from work_sessions.actions import start_session

    route = ROUTES[pattern]
    run = record_run(actor=agent, project=project, agent_name="a")
    names = {
        "decision": decision.node_id,
        "outcome": outcome.node_id,
        "pattern": create_pattern(actor=agent, project=project, category="c", name="N").node_id,
        "pitfall": create_pitfall(actor=agent, project=project, category="c", title="T").node_id,
        "run": run.node_id,
        "memory": remember(actor=agent, project=project, agent_name="a", summary="S", run=run).node_id,
        "session": start_session(actor=agent, project=project, session_id="ses-1").node_id,
    }
    asked = f"{route.path} {route.methods}"
    needs_its_own = any(name in asked for name in ("{link}", "{other}", "/cache/", "{act}"))
    own = of_each_token(agent, project, decision) if needs_its_own else {t: {"token": t} for t in TOKENS}
    wrong = []
    for method in METHODS:
        for token in TOKENS:  # those that may do the least come first: an act changes what the next one finds
            of_token = {**names, **own[token]}
            path = route.path.format(**of_token)
            body = route.methods.get(method, ("", None, 0))[1]
            filled = {
                name: value.format(**of_token) if isinstance(value, str) else value
                for name, value in (body or {}).items()
            }
            if "version" in filled:
                filled["version"] = current_version(tokens, path)
            answer = ApiClient(tokens[token]).send(method, path, filled or None)
            want = expected(route, method, token)
            if answer.status_code != want:
                wrong.append((method, token, want, answer.status_code, answer.content[:200]))
            if answer.status_code >= 400 and answer["Content-Type"] != "application/problem+json":
                wrong.append((method, token, "no problem+json"))
    assert not wrong, wrong


def of_each_token(agent, project, decision) -> dict[str, dict[str, str]]:
    """What can be made or taken away but once: one for each token."""
    from patterns.actions import create_pattern
    from records.links import link
    from records.models import Revision
    from runs.actions import set_cache

    found = {}
    for token in TOKENS:
        set_cache(actor=agent, project=project, key=f"of-{token}", value=1)
        ends = [create_pattern(actor=agent, project=project, category="c", name=name) for name in "AB"]
        made = link(decision, "RELATES_TO", ends[0], actor=agent)
        act = Revision.objects.filter(node_id=ends[0].node_id, verb="link").latest("id").act
        found[token] = {"token": token, "link": str(made.pk), "other": ends[1].node_id, "act": act}
    return found


def current_version(tokens, path: str) -> int:
    return ApiClient(tokens["read"]).get(path).data["version"]


@pytest.mark.parametrize("token", TOKENS)
def test_the_description_is_open_to_all(tokens, token):
    assert ApiClient(tokens[token]).get("/schema").status_code == 200
    assert ApiClient(tokens[token]).post("/schema").status_code == 405

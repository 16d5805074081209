"""`/api/v1/…`, and a JSON answer to every other address under /api/."""

from django.urls import include, path, re_path

from agent_api import reference, views
from agent_api.acts import UndoView
from agent_api.bulk import with_bulk
from agent_api.cache import CacheView
from agent_api.context import ContextView
from agent_api.door import DoorRouter, through_door
from agent_api.incidents import IncidentsView
from agent_api.links import LinkViewSet
from agent_api.mcp.view import mcp
from agent_api.search import SearchView
from decisions.api import DecisionOutcomesViewSet, DecisionViewSet, OutcomeViewSet
from patterns.api import PatternViewSet
from pitfalls.api import PitfallViewSet
from runs.api import MemoryViewSet, RunViewSet
from work_sessions.api import SessionViewSet

router = DoorRouter()
router.register("decisions", with_bulk(DecisionViewSet), "decision")
router.register("outcomes", with_bulk(OutcomeViewSet), "outcome")
router.register("patterns", with_bulk(PatternViewSet), "pattern")
router.register("pitfalls", with_bulk(PitfallViewSet), "pitfall")
router.register("sessions", with_bulk(SessionViewSet), "session")
router.register("runs", with_bulk(RunViewSet), "run")
router.register("memories", with_bulk(MemoryViewSet), "memory")
router.register("links", LinkViewSet, "link")
router.register("records", views.RecordsViewSet, "record")

v1 = [
    re_path(r"^me/?$", views.MeView.as_view(), name="me"),
    re_path(r"^projects/?$", views.ProjectsView.as_view(), name="projects"),
    re_path(r"^context/?$", ContextView.as_view(), name="context"),
    re_path(r"^projects/(?P<slug>[^/]+)/?$", views.ProjectView.as_view(), name="project"),
    re_path(r"^cache/(?P<key>.+?)/?$", CacheView.as_view(), name="cache"),
    re_path(r"^incidents/?$", IncidentsView.as_view(), name="incidents"),
    re_path(r"^acts/(?P<act>[^/]+)/undo/?$", UndoView.as_view(), name="undo"),
    re_path(r"^search/?$", SearchView.as_view(), name="search"),
    re_path(
        r"^decisions/(?P<node_id>[^/]+)/outcomes/?$",
        through_door(DecisionOutcomesViewSet).as_view(
            {"get": "list", "post": "create"}, basename="decision-outcomes"
        ),
        name="decision-outcomes",
    ),
    *router.urls,
    re_path(r"^schema/?$", views.schema, name="schema"),
]

urlpatterns = [
    path("api/", reference.page, name="api_reference"),
    path("api/v1/", include((v1, "api"))),
    re_path(r"^mcp/?$", mcp, name="mcp"),
    re_path(r"^api(?:/|$)", views.not_found),
    re_path(r"^\.well-known/oauth-", views.no_oauth),
]

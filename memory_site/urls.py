"""Every door. Pages of a project live under /p/<slug>/ and check who asks with `projects.access.in_project`."""

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.generic import RedirectView

from curation.saved import views as saved_views
from desk.views import home
from memory_site import views
from memory_site.metrics import metrics

PROJECT_PAGES = [
    path("", include("desk.urls")),
    path("project/", include("projects.urls")),
]

urlpatterns = [
    path("", home, name="home"),
    path("", include("projects.account_urls")),
    path("p/<slug:slug>/", include(PROJECT_PAGES)),
    # One sign-in page, with one throttle, for pages and admin alike.
    path("admin/login/", login_not_required(RedirectView.as_view(pattern_name="login", query_string=True))),
    path("admin/", admin.site.urls),
    *[
        path("", include(f"{app}.urls"))
        for app in ("records", "decisions", "patterns", "pitfalls", "work_sessions", "runs", "graph")
    ],
    path("", include("curation.history.urls")),
    path("", include("curation.radius.urls")),
    path("", include("curation.merging.urls")),
    path("", include("curation.inbox.urls")),
    path("", include("curation.written.urls")),
    path("", include("curation.pairs.urls")),
    path("", include("curation.saved.urls")),
    path("feed/<str:text>/", saved_views.feed, name="feed"),
    path("unsubscribe/<str:text>/", saved_views.unsubscribe, name="unsubscribe"),
    path("", include("desk.search.urls")),
    path("", include("desk.context_pack.urls")),
    path("", include("desk.incident.urls")),
    path("", include("desk.answers.urls")),
    path("", include("desk.timeline.urls")),
    path("p/<slug:slug>/connect/", include("agent_api.connect.urls")),
    path("", include("agent_api.urls")),
    path("health/", include("desk.health.urls")),
    path("healthz", views.healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
]

handler400 = views.bad_request
handler403 = views.permission_denied
handler404 = views.page_not_found
handler500 = views.server_error

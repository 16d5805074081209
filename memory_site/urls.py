"""Every door. Pages of a project live under /p/<slug>/ and check who asks with `projects.access.in_project`."""

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.generic import RedirectView

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
    path("", include("desk.search.urls")),
    path("", include("desk.context_pack.urls")),
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

from django.urls import path, re_path

from runs import views

app_name = "runs"
HEX = r"(?P<pk>[0-9a-f]{32})"
urlpatterns = [
    path("p/<slug:slug>/runs/", views.run_list, name="list"),
    path("p/<slug:slug>/runs/running/", views.running, name="running"),
    re_path(rf"^p/(?P<slug>[-a-zA-Z0-9_]+)/runs/{HEX}/$", views.run_detail, name="detail"),
    re_path(rf"^p/(?P<slug>[-a-zA-Z0-9_]+)/memories/{HEX}/$", views.memory_detail, name="memory"),
]

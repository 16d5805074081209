from django.urls import path

from curation.inbox import bulk_views, views

app_name = "inbox"
urlpatterns = [
    path("p/<slug:slug>/inbox/", views.inbox, name="page"),
    path("p/<slug:slug>/inbox/pane/", views.pane, name="pane"),
    path("p/<slug:slug>/inbox/diff/<str:node_id>/<str:other_id>/", views.diff, name="diff"),
    path("p/<slug:slug>/inbox/act/", views.act, name="act"),
    path("p/<slug:slug>/inbox/bulk/", bulk_views.start, name="bulk"),
    path("p/<slug:slug>/inbox/bulk/<int:job_id>/", bulk_views.job, name="job"),
    path("p/<slug:slug>/inbox/bulk/<int:job_id>/step/", bulk_views.step, name="step"),
]

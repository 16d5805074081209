from django.urls import path

from curation.history import record_views, views

app_name = "history"
urlpatterns = [
    path("p/<slug:slug>/history/", views.history, name="list"),
    path("p/<slug:slug>/history/<int:pk>/", views.change, name="change"),
    path("p/<slug:slug>/r/<str:node_id>/belief/", record_views.belief, name="belief"),
    path("p/<slug:slug>/r/<str:node_id>/as-of/", record_views.as_of, name="as_of"),
]

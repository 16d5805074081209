from django.urls import path

from desk import fresh, views

app_name = "desk"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("fresh/", fresh.fresh, name="fresh"),
    path("first-run/hide/", views.hide_first_run, name="hide_first_run"),
]

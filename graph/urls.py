from django.urls import path

from graph import views

app_name = "graph"
urlpatterns = [
    path("p/<slug:slug>/graph/", views.neighbourhood, name="neighbourhood"),
    path("p/<slug:slug>/graph/data", views.data, name="data"),
    path("p/<slug:slug>/graph/path", views.path, name="path"),
]

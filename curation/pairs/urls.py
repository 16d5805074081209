from django.urls import path

from curation.pairs import views

app_name = "pairs"
urlpatterns = [
    path("p/<slug:slug>/compare/", views.compare, name="compare"),
    path("p/<slug:slug>/compare/settle/", views.settle_pair, name="settle"),
    path("p/<slug:slug>/compare/keep/", views.keep_apart, name="keep_apart"),
]

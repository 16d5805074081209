from django.urls import path

from desk.search import views

urlpatterns = [
    path("p/<slug:slug>/search/", views.search_page, name="search"),
    path("p/<slug:slug>/search/complete/", views.complete, name="search_complete"),
]

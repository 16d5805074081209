from django.urls import path

from pitfalls import views

app_name = "pitfalls"
urlpatterns = [
    path("p/<slug:slug>/pitfalls/", views.pitfall_list, name="list"),
    path("p/<slug:slug>/pitfalls/new/", views.pitfall_create, name="create"),
    path("p/<slug:slug>/pitfalls/<int:pk>/", views.pitfall_detail, name="detail"),
    path("p/<slug:slug>/pitfalls/<int:pk>/edit/", views.pitfall_edit, name="edit"),
    path("p/<slug:slug>/pitfalls/<int:pk>/severity/", views.change_severity, name="severity"),
    path("p/<slug:slug>/pitfalls/<int:pk>/met/", views.meet_again, name="met"),
]

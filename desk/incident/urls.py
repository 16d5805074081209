from django.urls import path

from desk.incident import views

app_name = "incident"
urlpatterns = [
    path("p/<slug:slug>/incident/", views.ask, name="ask"),
    path("p/<slug:slug>/incident/<slug:key>/", views.alert, name="alert"),
]

from django.urls import path

from curation.radius import views

app_name = "radius"
urlpatterns = [
    path("p/<slug:slug>/radius/", views.page, name="page"),
    path("p/<slug:slug>/radius/quarantine/", views.quarantine, name="quarantine"),
]

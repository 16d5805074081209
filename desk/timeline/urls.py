from django.urls import path

from desk.timeline import views

app_name = "timeline"
urlpatterns = [path("p/<slug:slug>/timeline/", views.timeline_page, name="page")]

from django.urls import path

from desk.answers import views

app_name = "answers"
urlpatterns = [path("p/<slug:slug>/answers/", views.answers_page, name="page")]

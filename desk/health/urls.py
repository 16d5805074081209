from django.urls import path

from desk.health import views

app_name = "health"
urlpatterns = [
    path("", views.page, name="page"),
    path("retry/", views.retry, name="retry"),
    path("project-again/", views.project_again, name="project_again"),
    path("count/", views.count, name="count"),
]

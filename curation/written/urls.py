from django.urls import path

from curation.written import views

app_name = "written"
urlpatterns = [
    path("p/<slug:slug>/written/", views.page, name="page"),
    path("p/<slug:slug>/written/review/", views.review, name="review"),
]

from django.urls import path

from curation.merging import views

app_name = "merging"
urlpatterns = [path("p/<slug:slug>/merge/", views.page, name="page")]

from django.urls import path

from desk.context_pack import views

app_name = "recall"
urlpatterns = [path("p/<slug:slug>/recall/", views.recall_page, name="page")]

from django.urls import path

from agent_api.connect import views

app_name = "connect"
urlpatterns = [
    path("", views.page, name="page"),
    path("token/", views.new_token, name="token"),
    path("seen/", views.seen, name="seen"),
]

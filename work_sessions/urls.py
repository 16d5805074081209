from django.urls import path

from work_sessions import views

app_name = "work_sessions"
urlpatterns = [
    path("p/<slug:slug>/sessions/", views.session_list, name="list"),
    path("p/<slug:slug>/sessions/named/", views.by_session_id, name="by_session_id"),
    path("p/<slug:slug>/sessions/<int:pk>/", views.session_detail, name="detail"),
    path("p/<slug:slug>/sessions/<int:pk>/end/", views.session_end, name="end"),
]

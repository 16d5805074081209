from django.urls import path

from decisions import views

app_name = "decisions"
urlpatterns = [
    path("p/<slug:slug>/decisions/", views.decision_list, name="list"),
    path("p/<slug:slug>/decisions/new/", views.decision_create, name="create"),
    path("p/<slug:slug>/decisions/<int:pk>/", views.decision_detail, name="detail"),
    path("p/<slug:slug>/decisions/<int:pk>/edit/", views.decision_edit, name="edit"),
    path("p/<slug:slug>/decisions/<int:pk>/status/", views.change_status, name="status"),
    path("p/<slug:slug>/decisions/<int:pk>/supersede/", views.supersede, name="supersede"),
    path("p/<slug:slug>/decisions/<int:pk>/contradict/", views.contradict, name="contradict"),
    path("p/<slug:slug>/decisions/<int:pk>/outcome/", views.record_outcome, name="record_outcome"),
    path("p/<slug:slug>/decisions/<int:pk>/settle/", views.settle_import, name="settle_import"),
    path("p/<slug:slug>/outcomes/", views.outcome_list, name="outcomes"),
    path("p/<slug:slug>/outcomes/<int:pk>/", views.outcome_detail, name="outcome"),
    path("p/<slug:slug>/outcomes/<int:pk>/edit/", views.outcome_edit, name="outcome_edit"),
]

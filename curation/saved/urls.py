from django.urls import path

from curation.saved import views

app_name = "saved"
urlpatterns = [
    path("p/<slug:slug>/saved/", views.saved_page, name="list"),
    path("p/<slug:slug>/saved/new/", views.save, name="save"),
    path("p/<slug:slug>/saved/<int:pk>/", views.change, name="change"),
    path("p/<slug:slug>/saved/<int:pk>/delete/", views.delete, name="delete"),
    path("p/<slug:slug>/saved/<int:pk>/feed/", views.make_feed, name="make_feed"),
    path("p/<slug:slug>/saved/<int:pk>/feed/withdraw/", views.withdraw_feed, name="withdraw_feed"),
]

from django.urls import path

from records import views

app_name = "records"
NODE = "p/<slug:slug>/records/<str:node_id>"
urlpatterns = [
    path("r/<str:node_id>/", views.node, name="node"),
    path(f"{NODE}/history/", views.history, name="history"),
    path(f"{NODE}/review/", views.review, name="review"),
    path(f"{NODE}/archive/", views.archive, name="archive"),
    path(f"{NODE}/restore/", views.restore, name="restore"),
    path(f"{NODE}/link/", views.link, name="link"),
    path(f"{NODE}/unlink/<int:link_id>/", views.unlink, name="unlink"),
]

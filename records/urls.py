from django.urls import path

from records import act_views, views
from records.pages import erasing

app_name = "records"
NODE = "p/<slug:slug>/records/<str:node_id>"
urlpatterns = [
    path("r/<str:node_id>/", views.node, name="node"),
    path("p/<slug:slug>/acts/<str:act>/undo/", act_views.undo_act, name="undo"),
    path(f"{NODE}/history/", views.history, name="history"),
    path(f"{NODE}/review/", views.review, name="review"),
    path(f"{NODE}/archive/", views.archive, name="archive"),
    path(f"{NODE}/restore/", views.restore, name="restore"),
    path(f"{NODE}/erase/", erasing.erase, name="erase"),
    path(f"{NODE}/versions/<int:version>/restore/", act_views.restore_version, name="restore_version"),
    path(f"{NODE}/link/", views.link, name="link"),
    path(f"{NODE}/unlink/<int:link_id>/", views.unlink, name="unlink"),
]

from django.urls import path

from patterns import views

app_name = "patterns"
urlpatterns = [
    path("p/<slug:slug>/patterns/", views.pattern_list, name="list"),
    path("p/<slug:slug>/patterns/new/", views.pattern_create, name="create"),
    path("p/<slug:slug>/patterns/<int:pk>/", views.pattern_detail, name="detail"),
    path("p/<slug:slug>/patterns/<int:pk>/edit/", views.pattern_edit, name="edit"),
    path("p/<slug:slug>/patterns/<int:pk>/confidence/", views.adjust_confidence, name="confidence"),
    path("p/<slug:slug>/patterns/<int:pk>/retire/", views.retire, name="retire"),
    path("p/<slug:slug>/patterns/<int:pk>/unretire/", views.unretire, name="unretire"),
    path("p/<slug:slug>/patterns/<int:pk>/worked/", views.worked, name="worked"),
    path("p/<slug:slug>/patterns/<int:pk>/failed/", views.failed, name="failed"),
]

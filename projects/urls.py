from django.urls import path

from projects import views

app_name = "projects"
urlpatterns = [
    path("", views.settings_page, name="settings"),
    path("rename/", views.rename, name="rename"),
    path("policy/", views.change_policy, name="change_policy"),
    path("members/", views.add_member, name="add_member"),
    path("members/<int:member_id>/role/", views.change_role, name="change_role"),
    path("members/<int:member_id>/remove/", views.remove_member, name="remove_member"),
    path("tokens/", views.create_token, name="create_token"),
    path("tokens/<int:token_id>/revoke/", views.revoke_token, name="revoke_token"),
]

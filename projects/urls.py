from django.urls import path

from projects import accounts_views, invitation_views, views

app_name = "projects"
urlpatterns = [
    path("", views.settings_page, name="settings"),
    path("rename/", views.rename, name="rename"),
    path("aliases/", views.add_alias, name="add_alias"),
    path("aliases/<int:alias_id>/remove/", views.remove_alias, name="remove_alias"),
    path("policy/", views.change_policy, name="change_policy"),
    path("members/", views.add_member, name="add_member"),
    path("members/<int:member_id>/role/", views.change_role, name="change_role"),
    path("members/<int:member_id>/remove/", views.remove_member, name="remove_member"),
    path("members/<int:member_id>/reset/", accounts_views.reset_member, name="reset_member"),
    path("invitations/", invitation_views.invite, name="invite"),
    path("invitations/<int:invitation_id>/withdraw/", invitation_views.withdraw, name="withdraw_invitation"),
    path("tokens/", views.create_token, name="create_token"),
    path("tokens/<int:token_id>/revoke/", views.revoke_token, name="revoke_token"),
]

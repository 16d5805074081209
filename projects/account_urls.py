"""Signing in and out, one's password, a new project: what belongs to a person, not to a project."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView, PasswordChangeDoneView
from django.urls import path, reverse_lazy
from django.views.generic import TemplateView

from projects import account_views, accounts_views, invitation_views, views

signed_out = login_not_required(TemplateView.as_view(template_name="registration/logged_out.html"))

urlpatterns = [
    path("login/", account_views.SignIn.as_view(), name="login"),
    path("login/<str:uidb64>/<str:token>/", account_views.login_link, name="login_link"),
    path("logout/", LogoutView.as_view(next_page=reverse_lazy("signed_out")), name="logout"),
    path("signed-out/", signed_out, name="signed_out"),
    path("password/", account_views.ChangePassword.as_view(), name="password_change"),
    path("password/changed/", PasswordChangeDoneView.as_view(), name="password_change_done"),
    path(
        "password/reset/<str:uidb64>/<str:token>/",
        account_views.ResetPassword.as_view(),
        name="password_reset",
    ),
    path("invitation/<str:text>/", invitation_views.invitation, name="invitation"),
    path("account/", accounts_views.preferences, name="preferences"),
    path("account/theme/", accounts_views.choose_theme, name="choose_theme"),
    path("accounts/", accounts_views.accounts_page, name="accounts"),
    path("accounts/new/", accounts_views.make, name="account_make"),
    path("accounts/<int:user_id>/reset/", accounts_views.reset, name="account_reset"),
    path("accounts/<int:user_id>/deactivate/", accounts_views.deactivate, name="account_deactivate"),
    path("accounts/<int:user_id>/reactivate/", accounts_views.reactivate, name="account_reactivate"),
    path("projects/new/", views.new_project, name="new_project"),
]

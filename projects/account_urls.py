"""Signing in and out, one's password, a new project: what belongs to a person, not to a project."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView, PasswordChangeDoneView
from django.urls import path, reverse_lazy
from django.views.generic import TemplateView

from projects import account_views, views

signed_out = login_not_required(TemplateView.as_view(template_name="registration/logged_out.html"))

urlpatterns = [
    path("login/", account_views.SignIn.as_view(), name="login"),
    path("login/<str:uidb64>/<str:token>/", account_views.login_link, name="login_link"),
    path("logout/", LogoutView.as_view(next_page=reverse_lazy("signed_out")), name="logout"),
    path("signed-out/", signed_out, name="signed_out"),
    path("password/", account_views.ChangePassword.as_view(), name="password_change"),
    path("password/changed/", PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("projects/new/", views.new_project, name="new_project"),
]

"""Signing in by password or by a one-time link, and changing one's password."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, PasswordChangeView, PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from projects.account_forms import NewPasswordForm, OtherPasswordForm
from projects.login_links import claim_link, reset_links, user_of_link
from projects.models import User
from projects.snippets import python_command

PASSWORD_BACKEND = "django.contrib.auth.backends.ModelBackend"  # noqa: S105  (a path, not a password)


class SignIn(LoginView):
    """Throttled per person and address (projects.throttle); the admin signs in here too."""


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def login_link(request: HttpRequest, uidb64: str, token: str) -> HttpResponse:
    """A button, not a login by GET: a preview of the link in a chat must not use it up."""
    user = user_of_link(uidb64, token)
    if request.method != "POST" or user is None:
        status = 200 if user is not None else 410
        return _link_page(request, user, status)
    if not claim_link(user):
        return _link_page(request, None, 410)
    login(request, user, backend=PASSWORD_BACKEND)
    if not user.has_usable_password():
        messages.info(
            request, _("You have no password yet. Set one from the account menu before you sign out.")
        )
    return redirect("home")


def _link_page(request: HttpRequest, user: User | None, status: int) -> HttpResponse:
    context = {"link_user": user, "link_command": f"{python_command()} manage.py login_link"}
    return render(request, "registration/login_link.html", context, status=status)


@method_decorator([login_not_required, never_cache], name="dispatch")
class ResetPassword(PasswordResetConfirmView):
    """A new password by the link that an admin or operator made; it works once, for a day, and signs in."""

    template_name = "registration/password_reset.html"
    token_generator = reset_links
    form_class = NewPasswordForm
    post_reset_login = True
    post_reset_login_backend = PASSWORD_BACKEND
    success_url = reverse_lazy("home")

    def get_user(self, uidb64: str) -> Any:
        user = super().get_user(uidb64)
        return user if user is not None and user.is_active else None

    def render_to_response(self, context: dict[str, Any], **options: Any) -> Any:
        status = 200 if self.validlink else 410
        return super().render_to_response(
            context, status=422 if context["form"] and context["form"].errors else status, **options
        )


class ChangePassword(PasswordChangeView):
    """Asks for the old password of those who have one; who came by a link sets the first one here."""

    def get_form_class(self) -> Any:
        user = self.request.user
        first = isinstance(user, User) and not user.has_usable_password()
        return NewPasswordForm if first else OtherPasswordForm

    def get_success_url(self) -> str:
        return reverse("password_change_done")

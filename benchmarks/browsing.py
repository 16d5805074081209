"""A signed-in operator's requests in this process, which has loaded what a server's has."""

from __future__ import annotations

from django.core.wsgi import get_wsgi_application
from django.test import Client

from memory_site.garbage import settle
from projects.models import User


def signed_in() -> Client:
    user, _ = User.objects.get_or_create(username="benchmark", defaults={"is_superuser": True})
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    get_wsgi_application()
    settle()
    return client

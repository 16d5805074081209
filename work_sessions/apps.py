from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorkSessionsConfig(AppConfig):
    name = "work_sessions"
    verbose_name = _("work sessions")

    def ready(self) -> None:
        from work_sessions import kind  # noqa: F401  (registers itself)

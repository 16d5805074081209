from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class DecisionsConfig(AppConfig):
    name = "decisions"
    verbose_name = _("decisions")

    def ready(self) -> None:
        from decisions import kind  # noqa: F401  (registers itself)

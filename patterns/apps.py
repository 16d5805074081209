from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PatternsConfig(AppConfig):
    name = "patterns"
    verbose_name = _("patterns")

    def ready(self) -> None:
        from patterns import kind  # noqa: F401  (registers itself)

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PitfallsConfig(AppConfig):
    name = "pitfalls"
    verbose_name = _("pitfalls")

    def ready(self) -> None:
        from pitfalls import kind  # noqa: F401  (registers itself)

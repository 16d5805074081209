from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RecordsConfig(AppConfig):
    name = "records"
    verbose_name = _("records")

    def ready(self) -> None:
        from records import erasing  # noqa: F401  (names its tables)

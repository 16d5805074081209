from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PitfallsConfig(AppConfig):
    name = "pitfalls"
    verbose_name = _("pitfalls")

    def ready(self) -> None:
        from pitfalls import kind  # noqa: F401  (registers itself)
        from pitfalls.models import Encounter, Pitfall
        from records.text_tables import TextTable, add_text_table, by_key

        add_text_table(TextTable(model=Encounter, rows_of=by_key("pitfall", Pitfall), emptied={"note": None}))

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PatternsConfig(AppConfig):
    name = "patterns"
    verbose_name = _("patterns")

    def ready(self) -> None:
        from patterns import kind  # noqa: F401  (registers itself)
        from patterns.fading import LOOK_SECONDS, fade_unused
        from patterns.models import Evidence, Pattern
        from records.followers import add_chore
        from records.text_tables import TextTable, add_text_table, by_key

        add_text_table(TextTable(model=Evidence, rows_of=by_key("pattern", Pattern), emptied={"note": None}))
        add_chore("fade unused votes", fade_unused, every=LOOK_SECONDS)

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RunsConfig(AppConfig):
    name = "runs"
    verbose_name = _("runs")

    def ready(self) -> None:
        from records import followers
        from records.text_tables import TextTable, add_companions, add_hot_state, add_text_table, by_key
        from runs import kind, recounting, retention, summing  # noqa: F401  (kind, retention register themselves)
        from runs.models import CacheEntry, PayloadValue, Run, RunFigures, RunSummary
        from runs.queries import memories_told_with

        add_text_table(TextTable(model=PayloadValue, rows_of=by_key("run", Run)))
        # Its figures follow the erased row; the sums of many runs are no text of one.
        add_text_table(
            TextTable(model=RunFigures, rows_of=by_key("run_id", Run), emptied={"payload_digest": ""})
        )
        add_text_table(TextTable(model=RunSummary, rows_of=lambda records: None))
        add_companions(memories_told_with)
        add_hot_state(CacheEntry)
        followers.follow(written=summing.keep_written, gone=summing.forget_gone)
        followers.add_chore("run figures", recounting.catch_up, every=recounting.CATCH_UP_SECONDS)
        followers.add_chore("run sums", recounting.merge_some)

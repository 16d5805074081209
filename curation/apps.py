from django.apps import AppConfig


class CurationConfig(AppConfig):
    name = "curation"

    def ready(self) -> None:
        import curation.inbox.records
        import curation.inbox.retention
        import curation.pairs.queues  # noqa: F401 -- they register themselves
        from curation.models import SuggestedPair
        from curation.pairs.actions import SETTLE, undo_settle
        from curation.pairs.chores import NAME, catch_up
        from curation.pairs.keeping import close_pairs, keep_pairs
        from curation.saved.digest import LOOK_SECONDS, send_some
        from records import followers
        from records.text_tables import TextTable, add_text_table, by_node
        from records.undo_step import undone_by

        followers.follow(up_to_date=keep_pairs, hidden=close_pairs)
        followers.add_chore(NAME, catch_up)
        undone_by(SETTLE, undo_settle)
        followers.add_chore("daily digests", send_some, every=LOOK_SECONDS)
        add_text_table(TextTable(model=SuggestedPair, rows_of=by_node("first", "second")))

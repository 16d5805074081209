from django.apps import AppConfig


class RecallConfig(AppConfig):
    name = "recall"

    def ready(self) -> None:
        from recall.fulltext import drop_deleted_words, texts_with
        from recall.models import Embedding, SearchText, Similarity
        from records import text_tables, word_index
        from records.text_tables import TextTable, by_node

        word_index.use(texts_with)

        text_tables.add_text_table(TextTable(model=Embedding, rows_of=by_node("node_id"), is_workers=True))
        text_tables.add_text_table(TextTable(model=Similarity, rows_of=by_node("source", "target")))
        text_tables.add_text_table(
            TextTable(
                model=SearchText, rows_of=by_node("node_id"), afterwards=drop_deleted_words, is_workers=True
            )
        )

from django.apps import AppConfig


class RecallConfig(AppConfig):
    name = "recall"

    def ready(self) -> None:
        from recall.fulltext import texts_with
        from records import word_index

        word_index.use(texts_with)

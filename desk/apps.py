from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "desk"

    def ready(self) -> None:
        from desk.incident import retention  # noqa: F401  (it registers itself)

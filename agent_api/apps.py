from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AgentApiConfig(AppConfig):
    name = "agent_api"

    def ready(self) -> None:
        from agent_api.actions import sync_catalogue

        post_migrate.connect(sync_catalogue, sender=self)

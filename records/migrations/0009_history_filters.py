from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0005_accounts_and_aliases"),
        ("records", "0008_reads_by_project"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # Before the one it replaces is dropped: the foreign key needs one of the two.
        migrations.AddIndex(
            model_name="revision",
            index=models.Index(
                fields=[
                    "project",
                    "id",
                    "act",
                    "channel",
                    "kind",
                    "verb",
                    "token",
                    "actor_name",
                    "created_at",
                ],
                name="revisions_filters",
            ),
        ),
        migrations.AddIndex(
            model_name="revision",
            index=models.Index(fields=["project", "created_at", "id"], name="revisions_time"),
        ),
        migrations.RemoveIndex(model_name="revision", name="revisions_project"),
        migrations.RemoveIndex(model_name="revision", name="revisions_act"),
        migrations.AddIndex(
            model_name="revision",
            index=models.Index(fields=["act", "id", "project", "verb", "node_id"], name="revisions_act"),
        ),
    ]

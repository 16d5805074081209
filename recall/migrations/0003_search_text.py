"""The words of records and the databases' full-text index on them; the worker fills it for what is there already."""

from django.db import migrations, models
from django.db.models import F
from django.utils import timezone

import database.columns
from database.operations import FullText
from recall.tokenise import FTS5_TOKENIZE


def ask_for_all(apps, editor):
    """One more version of every record that the worker has finished with; vectors whose text is the same stay."""
    marks = apps.get_model("records", "ProjectionMark").objects.filter(
        gone=False, next_try_at=None, dead=False
    )
    now = timezone.now()
    marks.update(wanted_version=F("wanted_version") + 1, wanted_at=now, next_try_at=now)


class Migration(migrations.Migration):
    dependencies = [("recall", "0002_best_first"), ("records", "0003_links_by_target")]

    operations = [
        migrations.CreateModel(
            name="SearchText",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("node_id", database.columns.NodeIdField(max_length=40, unique=True)),
                ("kind", database.columns.ExactCharField(max_length=24)),
                ("project_id", models.IntegerField(null=True)),
                ("content_hash", database.columns.ExactCharField(max_length=64)),
                ("words", models.TextField()),
            ],
            options={"db_table": "search_texts", "ordering": ["id"]},
        ),
        FullText("search_texts", "words", FTS5_TOKENIZE),
        migrations.RunPython(ask_for_all, migrations.RunPython.noop, elidable=True),
    ]

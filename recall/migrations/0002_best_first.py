"""Indexes of similarities in the order in which they are read: best first, ties by node id."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("recall", "0001_initial")]

    operations = [
        migrations.RemoveIndex("similarity", "similarities_source_score"),
        migrations.RemoveIndex("similarity", "similarities_target_score"),
        migrations.AddIndex(
            "similarity",
            models.Index(fields=["source", "-score", "target"], name="similarities_source_score"),
        ),
        migrations.AddIndex(
            "similarity",
            models.Index(fields=["target", "-score", "source"], name="similarities_target_score"),
        ),
    ]

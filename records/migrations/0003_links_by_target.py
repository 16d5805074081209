"""The links of a target in the order in which they are read, without their rows."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("records", "0002_leases")]

    operations = [
        migrations.RemoveIndex("link", "links_target"),
        migrations.AddIndex(
            "link", models.Index(fields=["target", "relation", "source"], name="links_target")
        ),
    ]

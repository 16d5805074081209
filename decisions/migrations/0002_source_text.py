from django.db import migrations

import records.models
from database.operations import ActiveView


class Migration(migrations.Migration):
    dependencies = [("decisions", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="decision",
            name="source_text",
            field=records.models.LongText(
                blank=True, editable=False, null=True, verbose_name="original document"
            ),
        ),
        ActiveView("architecture_decisions"),
    ]

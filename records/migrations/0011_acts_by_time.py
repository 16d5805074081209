from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0010_erased_marks"),
    ]

    operations = [
        # One sort of act by time: a time line reads each from its own index range.
        migrations.AddIndex(
            model_name="revision",
            index=models.Index(fields=["project", "verb", "created_at", "id"], name="revisions_verb"),
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0004_marks_tried"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="revision",
            index=models.Index(fields=["session", "id"], name="revisions_session"),
        ),
    ]

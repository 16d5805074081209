from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("records", "0011_acts_by_time"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="projectionmark", name="marks_due"),
        # Since when the marks of a project wait is read off the index, not from each mark.
        migrations.AddIndex(
            model_name="projectionmark",
            index=models.Index(fields=["dead", "next_try_at", "wanted_at", "project_id"], name="marks_due"),
        ),
    ]

import django.core.validators
from django.db import migrations, models


def take_the_measured_default(apps, schema_editor):
    """Nothing read the threshold before: where it stands as it was set by default, the measured one is meant."""
    apps.get_model("projects", "ProjectPolicy").objects.filter(duplicate_cosine=0.92).update(
        duplicate_cosine=0.85
    )


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0006_signed_out_at"),
    ]

    operations = [
        migrations.AlterField(
            model_name="projectpolicy",
            name="duplicate_cosine",
            field=models.FloatField(
                db_default=0.85,
                default=0.85,
                validators=[
                    django.core.validators.MinValueValidator(0.5),
                    django.core.validators.MaxValueValidator(1),
                ],
                verbose_name="Likely duplicates from a cosine of",
            ),
        ),
        migrations.RunPython(take_the_measured_default, migrations.RunPython.noop),
    ]

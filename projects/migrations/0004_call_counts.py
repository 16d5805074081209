from django.db import migrations, models

import database.columns


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0003_policies"),
    ]

    operations = [
        migrations.CreateModel(
            name="CallCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("who", database.columns.ExactCharField(max_length=64, unique=True)),
                ("minute_number", models.BigIntegerField(db_index=True)),
                ("calls", models.IntegerField()),
            ],
            options={"db_table": "call_counts", "ordering": ["id"]},
        ),
    ]

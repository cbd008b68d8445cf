"""A contract can be held back; a charge can belong to no question: one that only a receipt knows of."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("curator", "0006_outages"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Hold",
            fields=[
                (
                    "contract",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="hold",
                        serialize=False,
                        to="curator.contract",
                    ),
                ),
                ("code", models.CharField(max_length=40, blank=True)),
                ("detail", models.TextField(blank=True)),
                ("since", models.DateTimeField()),
            ],
        ),
        migrations.AlterField(
            model_name="ledgerentry",
            name="analyst",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AlterField(
            model_name="ledgerentry",
            name="query",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="ledger", to="curator.query"
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgerentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("analyst__isnull", False), ("query__isnull", False)),
                    models.Q(("analyst__isnull", True), ("query__isnull", True), ("quota", 0)),
                    _connector="OR",
                ),
                name="entry_of_a_question_or_of_nobody",
            ),
        ),
    ]

"""A notice may tell of an allotment that was set."""

import django.db.models.deletion
from django.db import migrations, models

KINDS = [
    ("answer", "An answer is ready"),
    ("request", "A budget request waits for a decision"),
    ("decision", "A budget request was decided"),
    ("allotted", "Your allotment was changed"),
    ("raise", "A raise of a contract waits for a second curator"),
    ("raised", "A raise of a contract was decided"),
    ("member", "You were added to a contract"),
    ("joined", "Somebody accepted your invitation"),
    ("left", "Your place in a contract ended"),
]


class Migration(migrations.Migration):
    dependencies = [("curator", "0011_mail_rests")]

    operations = [
        migrations.AddField(
            model_name="notice",
            name="allotment",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="curator.allotment"
            ),
        ),
        migrations.AlterField(model_name="notice", name="kind", field=models.CharField(choices=KINDS, max_length=8)),
    ]

"""Outages are counted apart from attempts."""

from django.db import migrations, models

GUARD = """
DROP TRIGGER c_columns ON curator_query;
CREATE TRIGGER c_columns BEFORE UPDATE ON curator_query FOR EACH ROW
    EXECUTE FUNCTION guard_columns('state', 'attempts', 'outages', 'claimed_at', 'finished_at', 'failure');
"""


class Migration(migrations.Migration):
    dependencies = [("curator", "0005_record")]

    operations = [
        migrations.AddField(model_name="query", name="outages", field=models.PositiveSmallIntegerField(default=0, db_default=0)),
        migrations.RunSQL(GUARD, elidable=False),
    ]

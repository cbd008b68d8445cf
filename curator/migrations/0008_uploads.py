"""An upload is described to its curator before it is frozen: what may change meanwhile, and from which state to which."""

from django.db import migrations, models

SQL = """
DROP TRIGGER b_decided_once ON curator_upload;
DROP TRIGGER c_columns ON curator_upload;

CREATE FUNCTION guard_upload_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state NOT IN ('parsing', 'described', 'waiting') THEN
        RAISE EXCEPTION 'upload % is % for good: update refused', OLD.id, OLD.state USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.state <> NEW.state AND (OLD.state || ' ' || NEW.state) NOT IN
        ('parsing described', 'parsing refused', 'parsing discarded', 'described parsing', 'described waiting',
         'described discarded', 'waiting frozen', 'waiting refused') THEN
        RAISE EXCEPTION 'a % upload does not become %', OLD.state, NEW.state USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER b_state BEFORE UPDATE ON curator_upload FOR EACH ROW EXECUTE FUNCTION guard_upload_state();
-- Once it waits to be frozen, what was declared stands.
CREATE TRIGGER c_columns BEFORE UPDATE ON curator_upload FOR EACH ROW WHEN (OLD.state = 'waiting')
    EXECUTE FUNCTION guard_columns('state', 'code', 'detail', 'version_id');
CREATE TRIGGER c_columns_before BEFORE UPDATE ON curator_upload FOR EACH ROW WHEN (OLD.state <> 'waiting')
    EXECUTE FUNCTION guard_columns('state', 'code', 'detail', 'draft', 'schema', 'table', 'person_column', 'k');
"""


class Migration(migrations.Migration):
    dependencies = [("curator", "0007_holds")]

    operations = [
        migrations.AddField(model_name="upload", name="draft", field=models.JSONField(default=dict, db_default={})),
        migrations.AlterField(model_name="upload", name="schema", field=models.JSONField(default=dict)),
        migrations.AlterField(
            model_name="upload",
            name="state",
            field=models.CharField(
                choices=[
                    ("parsing", "Parsing"),
                    ("described", "Described"),
                    ("waiting", "Waiting"),
                    ("frozen", "Frozen"),
                    ("refused", "Refused"),
                    ("discarded", "Discarded"),
                ],
                default="waiting",
                max_length=10,
            ),
        ),
        migrations.RunSQL(SQL, elidable=False),
    ]

"""People and their places in contracts are never deleted, and nobody's name changes: what somebody did and spent stays theirs."""

from django.db import migrations

NAMES = """
CREATE FUNCTION guard_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the record knows % by this name: change refused', OLD.username USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER b_name BEFORE UPDATE OF username ON accounts_user
    FOR EACH ROW WHEN (OLD.username <> NEW.username) EXECUTE FUNCTION guard_name();
"""

TABLES = ("accounts_user", "accounts_membership")


def _triggers(table: str) -> str:
    return f"""
    CREATE TRIGGER a_kept BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION guard_kept();
    CREATE TRIGGER a_no_truncate BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION guard_kept();
    """


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_membership"), ("curator", "0002_guards")]

    operations = [migrations.RunSQL(NAMES + "".join(map(_triggers, TABLES)), elidable=False)]

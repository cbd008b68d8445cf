"""People and their places in contracts are never deleted: what somebody spent stays theirs."""

from django.db import migrations

TABLES = ("accounts_user", "accounts_membership")


def _triggers(table: str) -> str:
    return f"""
    CREATE TRIGGER a_kept BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION guard_kept();
    CREATE TRIGGER a_no_truncate BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION guard_kept();
    """


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_membership"), ("curator", "0002_guards")]

    operations = [migrations.RunSQL("".join(map(_triggers, TABLES)), elidable=False)]

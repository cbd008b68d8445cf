"""Two roles: the owner migrates, the application role cannot rewrite the record or change a table."""

from django.db import connection

from accounts.models import User


def test_the_application_role_is_not_the_owner(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, (SELECT tableowner FROM pg_tables WHERE tablename = 'curator_ledgerentry')")
        role, owner = cursor.fetchone()
    assert role != owner
    User.objects.create_user("alice")


def test_alice_of_the_test_before_is_not_here(db: None) -> None:
    assert not User.objects.exists()

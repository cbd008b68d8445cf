"""The database itself refuses to rewrite the record, whoever asks, until an owner switches its triggers off."""

from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from curator.models import Query
from curator.services import queries
from tests.record.story import Story, begin, busy_week
from tests.record.tampering import Column, Owner, columns

INSERT_ONLY = (
    "allotment", "answer", "auditevent", "datasetversion", "decision", "descriptor", "diagnostic", "ledgerentry", "querybin",
    "release",
)  # fmt: skip
KEPT = ("analystbudget", "audithead", "budgetrequest", "contract", "dataset", "query", "support", "totalraise")
#: of the rows that live on, what may still change in them
MAY_CHANGE = {
    "analystbudget": {"allotment", "spent", "est_spent"}, "audithead": {"seq", "head"},
    "support": {"rho_hist", "weighted_sum", "releases"},
    "contract": {"rho_total", "rho_est", "rho_ans", "ends_on", "state", "version_id", "spent_bound", "spent_method", "est_spent"},
}  # fmt: skip
#: another value than the one in {0}, by data type
OTHER = {
    "boolean": "NOT {0}", "uuid": "gen_random_uuid()", "jsonb": "'[\"changed\"]'::jsonb", "bytea": "'x'::bytea",
    "date": "'2031-01-01'::date", "timestamp with time zone": "now() + interval '1 day'",
}  # fmt: skip
#: in the order of the story: what came to its end
FINAL = ("budgetrequest", "query", "totalraise")

ENTRY: LiteralString = (
    "INSERT INTO curator_ledgerentry (contract_id, analyst_id, query_id, account, event_seq, load, quota, balance_before, "
    "balance_after, created_at) SELECT contract_id, analyst_id, query_id, account, event_seq, "
)


def table(name: str) -> sql.Identifier:
    return sql.Identifier(f"curator_{name}")


def refusal(owner: Owner, statement: sql.SQL | sql.Composed) -> str:
    """The database's words for refusing a statement of the owner; fails if it obeys."""
    with pytest.raises(psycopg.errors.RestrictViolation) as error, owner.transaction():
        owner.execute(statement)
    return str(error.value.diag.message_primary)


def touch(column: Column) -> sql.Composed:
    """An update of the first row that puts a value where there was another."""
    cell, key = sql.Identifier(column.name), sql.Identifier(column.key)
    other = OTHER.get(column.kind, "'z'" if column.kind in ("text", "character varying") else "coalesce({0}, 0) + 1")
    first = sql.SQL("(SELECT min({}) FROM {})").format(key, table(column.table))
    set_to = sql.SQL(other).format(cell)
    return sql.SQL("UPDATE {} SET {} = {} WHERE {} = {}").format(table(column.table), cell, set_to, key, first)


def test_what_was_written_once_is_never_changed_deleted_or_emptied(owner_connection: Owner) -> None:
    busy_week()
    n = 0
    for column in columns(owner_connection):
        if column.table in INSERT_ONLY:
            assert refusal(owner_connection, touch(column)) == f"curator_{column.table} is insert-only: update refused"
            n += 1
    for name in INSERT_ONLY:
        assert refusal(owner_connection, sql.SQL("DELETE FROM {}").format(table(name))).endswith("delete refused")
        assert refusal(owner_connection, sql.SQL("TRUNCATE {} CASCADE").format(table(name))).endswith("truncate refused")
    assert n > 70


def test_rows_that_live_on_are_never_deleted(owner_connection: Owner) -> None:
    busy_week()
    for name in KEPT:
        said = refusal(owner_connection, sql.SQL("DELETE FROM {}").format(table(name)))
        assert said == f"rows of curator_{name} are never deleted: delete refused"
        assert refusal(owner_connection, sql.SQL("TRUNCATE {} CASCADE").format(table(name))).endswith("truncate refused")
    for name in ("accounts_user", "accounts_membership"):
        assert refusal(owner_connection, sql.SQL("DELETE FROM {}").format(sql.Identifier(name))).endswith("delete refused")


def test_of_a_row_that_lives_on_only_the_named_columns_change(owner_connection: Owner) -> None:
    busy_week()
    for column in columns(owner_connection):
        if column.table in MAY_CHANGE and column.name not in MAY_CHANGE[column.table]:
            assert refusal(owner_connection, touch(column)) == f"curator_{column.table}.{column.name} may not change"


def test_what_is_decided_stays_decided(owner_connection: Owner) -> None:
    busy_week()
    for column in columns(owner_connection):
        if column.table in FINAL:
            assert "for good: update refused" in refusal(owner_connection, touch(column))


@pytest.fixture
def story(owner_connection: Owner) -> Story:
    """A contract with one question answered and one waiting."""
    made = begin(xi="0.5", allotments={"alice": "0.5"})
    made.ask(made.people.alice, {"column": "age", "at_least": 40}, {"within": 20})
    queries.submit(
        analyst=made.people.alice, contract=made.contract, key="waiting",
        body={"where": {"column": "age", "at_least": 50}, "accuracy": {"within": 20}},
    )  # fmt: skip
    return made


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE curator_contract SET spent_bound = spent_bound - 1", "curator_contract.spent_bound never decreases"),
        ("UPDATE curator_contract SET rho_total = rho_total - 2, rho_est = rho_est - 1, rho_ans = rho_ans - 1",
         "curator_contract.rho_total never decreases"),
        ("UPDATE curator_contract SET state = 'draft'", "a open contract does not become draft"),
        ("UPDATE curator_contract SET state = 'frozen', spent_bound = spent_bound + 1", "a frozen contract spends nothing"),
        ("UPDATE curator_contract SET kappa = 0", "curator_contract.kappa may not change"),
        ("UPDATE curator_analystbudget SET spent = spent - 1 WHERE spent > 0", "curator_analystbudget.spent never decreases"),
        ("UPDATE curator_support SET rho_hist = rho_hist - 1", "curator_support.rho_hist never decreases"),
        ("UPDATE curator_audithead SET seq = seq - 1", "curator_audithead.seq never decreases"),
        ("UPDATE curator_query SET label = 'x' WHERE state = 'waiting'", "curator_query.label may not change"),
        ("UPDATE curator_query SET sql = 'x', attempts = 1 WHERE state = 'waiting'", "curator_query.sql may not change"),
        ("UPDATE accounts_user SET username = 'mallory' WHERE username = 'alice'",
         "the record knows alice by this name: change refused"),
    ],
)  # fmt: skip
def test_totals_move_one_way_and_settings_stand(story: Story, owner_connection: Owner, statement: str, said: str) -> None:
    assert story.contract.state == "open"
    assert refusal(owner_connection, sql.SQL(statement)) == said


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("UPDATE curator_contract SET spent_bound = rho_ans + 1", "contract_ans_within"),
        ("UPDATE curator_contract SET est_spent = rho_est + 1", "contract_est_within"),
        ("UPDATE curator_contract SET rho_total = rho_total + 2, rho_ans = rho_ans + 2", "contract_split_by_xi"),
        ("UPDATE curator_analystbudget SET spent = allotment + 1 WHERE allotment > 0", "budget_within_allotment"),
        ("UPDATE curator_analystbudget SET allotment = -1 WHERE spent = 0", "allotment_not_negative"),
        (ENTRY + "-1, 0, 1, 0, now() FROM curator_ledgerentry", "entry_not_negative"),
        (ENTRY + "1, 1, 0, 2, now() FROM curator_ledgerentry", "entry_adds_up"),
        ("UPDATE curator_query SET state = 'lost' WHERE state = 'waiting'", "query_state_known"),
    ],
)  # fmt: skip
def test_limits_stand_in_the_database_too(story: Story, owner_connection: Owner, statement: str, name: str) -> None:
    assert story.contract.state == "open"
    with pytest.raises(psycopg.errors.CheckViolation) as error:
        owner_connection.execute(sql.SQL(statement))
    assert error.value.diag.constraint_name == name


def test_a_question_is_charged_once(story: Story, owner_connection: Owner) -> None:
    copy = sql.SQL(ENTRY + "load, quota, balance_after, balance_after + load, now() FROM curator_ledgerentry")
    assert story.contract.state == "open"
    with pytest.raises(psycopg.errors.UniqueViolation):
        owner_connection.execute(copy)


def test_a_waiting_question_can_be_claimed_and_ended_once(story: Story, owner_connection: Owner) -> None:
    waiting = Query.objects.get(contract=story.contract, key="waiting")
    owner_connection.execute("UPDATE curator_query SET attempts = 1, claimed_at = now() WHERE id = %s", [waiting.pk])
    owner_connection.execute("UPDATE curator_query SET state = 'failed', failure = 'x' WHERE id = %s", [waiting.pk])
    said = refusal(owner_connection, sql.SQL("UPDATE curator_query SET state = 'waiting' WHERE id = {}").format(waiting.pk))
    assert said == f"curator_query {waiting.pk} is failed for good: update refused"

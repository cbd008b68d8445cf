"""Triggers that keep the record: what was written stays, totals only move one way, what is decided is decided once.

They hold for every role that connects, the owner included; only switching them off (as owner) gets past them, and then
`manage.py verify` and the hash chain tell. A refusal is an integrity error whose message names the table and the rule.
"""

from django.db import migrations

FUNCTIONS = """
CREATE FUNCTION guard_insert_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is insert-only: % refused', TG_TABLE_NAME, lower(TG_OP) USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION guard_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never deleted: % refused', TG_TABLE_NAME, lower(TG_OP) USING ERRCODE = 'restrict_violation';
END $$;

-- Arguments: the columns that may change. Compared as documents, so that a column added later is frozen until it is named here.
CREATE FUNCTION guard_columns() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was jsonb := to_jsonb(OLD) - TG_ARGV;
    now jsonb := to_jsonb(NEW) - TG_ARGV;
BEGIN
    IF was IS DISTINCT FROM now THEN
        RAISE EXCEPTION '%.% may not change', TG_TABLE_NAME,
            (SELECT key FROM jsonb_each(was) WHERE value IS DISTINCT FROM now -> key ORDER BY key LIMIT 1)
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Argument: the one state that may be left. Any other is final, and with it the whole row.
CREATE FUNCTION guard_decided_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> TG_ARGV[0] THEN
        RAISE EXCEPTION '% % is % for good: update refused', TG_TABLE_NAME, OLD.id, OLD.state
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Arguments: the columns whose numbers never fall.
CREATE FUNCTION guard_never_less() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was jsonb := to_jsonb(OLD);
    now jsonb := to_jsonb(NEW);
    name text;
BEGIN
    FOREACH name IN ARRAY TG_ARGV LOOP
        IF (now ->> name)::numeric < (was ->> name)::numeric THEN
            RAISE EXCEPTION '%.% never decreases', TG_TABLE_NAME, name USING ERRCODE = 'restrict_violation';
        END IF;
    END LOOP;
    RETURN NEW;
END $$;

CREATE FUNCTION guard_contract_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> NEW.state AND (OLD.state || ' ' || NEW.state) NOT IN
        ('draft open', 'draft closed', 'open frozen', 'frozen open', 'open closed', 'frozen closed') THEN
        RAISE EXCEPTION 'a % contract does not become %', OLD.state, NEW.state USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.state <> 'open' AND (NEW.spent_bound <> OLD.spent_bound OR NEW.est_spent <> OLD.est_spent) THEN
        RAISE EXCEPTION 'a % contract spends nothing', NEW.state USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
"""

INSERT_ONLY = (
    "allotment", "answer", "auditevent", "datasetversion", "decision", "descriptor", "diagnostic", "ledgerentry", "querybin",
    "release",
)  # fmt: skip
KEPT = ("analystbudget", "audithead", "budgetrequest", "contract", "dataset", "query", "support", "totalraise", "upload")

#: table → columns that may change
MUTABLE = {
    "analystbudget": "allotment spent est_spent",
    "audithead": "seq head",
    "budgetrequest": "state granted note decided_by_id decided_at",
    "query": "state attempts claimed_at finished_at failure",
    "support": "rho_hist weighted_sum releases",
    "totalraise": "state note decided_by_id decided_at",
    "upload": "state code detail version_id",
}
CONTRACT_ALWAYS = "rho_total rho_est rho_ans ends_on state version_id spent_bound spent_method est_spent"
#: table → the state that may be left
DECIDED_ONCE = {"budgetrequest": "open", "query": "waiting", "totalraise": "open", "upload": "waiting"}
#: table → columns that never decrease
NEVER_LESS = {
    "analystbudget": "spent est_spent",
    "audithead": "seq",
    "contract": "spent_bound est_spent",
    "support": "rho_hist releases",
}


def _arguments(words: str) -> str:
    return ", ".join(f"'{word}'" for word in words.split())


def _trigger(name: str, when: str, table: str, function: str, words: str = "", level: str = "ROW", only: str = "") -> str:
    condition = f" WHEN ({only})" if only else ""
    made = f"CREATE TRIGGER {name} BEFORE {when} ON curator_{table} FOR EACH {level}{condition}"
    return f"{made} EXECUTE FUNCTION {function}({words});"


def _triggers() -> list[str]:
    made = [_trigger("a_insert_only", "UPDATE OR DELETE", table, "guard_insert_only") for table in INSERT_ONLY]
    made += [_trigger("a_no_truncate", "TRUNCATE", table, "guard_insert_only", level="STATEMENT") for table in INSERT_ONLY]
    made += [_trigger("a_kept", "DELETE", table, "guard_kept") for table in KEPT]
    made += [_trigger("a_no_truncate", "TRUNCATE", table, "guard_kept", level="STATEMENT") for table in KEPT]
    made += [
        _trigger("b_decided_once", "UPDATE", table, "guard_decided_once", _arguments(state))
        for table, state in DECIDED_ONCE.items()
    ]
    made += [_trigger("c_columns", "UPDATE", table, "guard_columns", _arguments(words)) for table, words in MUTABLE.items()]
    made += [
        _trigger("d_never_less", "UPDATE", table, "guard_never_less", _arguments(words)) for table, words in NEVER_LESS.items()
    ]
    settled = "OLD.state <> 'draft'"
    made += [
        _trigger("b_state", "UPDATE", "contract", "guard_contract_state"),
        _trigger("c_columns", "UPDATE", "contract", "guard_columns", _arguments(CONTRACT_ALWAYS), only=settled),
        _trigger("d_total_never_less", "UPDATE", "contract", "guard_never_less", "'rho_total'", only=settled),
    ]
    return made


class Migration(migrations.Migration):
    dependencies = [("curator", "0001_initial")]

    operations = [
        migrations.RunSQL(FUNCTIONS, elidable=False),
        migrations.RunSQL("\n".join(_triggers()), elidable=False),
    ]

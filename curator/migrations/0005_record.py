"""Chains that only the database writes, counters of what was denied, and verifications that the worker makes.

`record_append` runs with the rights of the tables' owner and is the application role's only way to write a chain: it numbers each
event, puts its bytes together, hashes them to the head it has locked, and refuses a clock that is off. Its search path is pinned,
so that no table or function of a caller can stand in for the record's own.
"""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FUNCTIONS = """
-- Lock a chain's head until the transaction ends; the first writer of a chain makes it.
CREATE FUNCTION record_hold(chain_name text) RETURNS public.curator_audithead
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    held public.curator_audithead;
BEGIN
    SELECT * INTO held FROM public.curator_audithead WHERE chain = chain_name FOR NO KEY UPDATE;
    IF FOUND THEN
        RETURN held;
    END IF;
    IF chain_name <> 'site' AND NOT EXISTS (SELECT FROM public.curator_contract WHERE uid::text = chain_name) THEN
        RAISE EXCEPTION 'there is no contract %: it has no chain', chain_name USING ERRCODE = 'restrict_violation';
    END IF;
    -- Two first writers: the second insert waits for the first to commit, does nothing, and then finds its row.
    INSERT INTO public.curator_audithead (chain, seq, head) VALUES (chain_name, 0, repeat('0', 64)) ON CONFLICT DO NOTHING;
    SELECT * INTO STRICT held FROM public.curator_audithead WHERE chain = chain_name FOR NO KEY UPDATE;
    RETURN held;
END $$;

-- Add events in order. The bytes are those of curator.mechanism.chain.canonical: members sorted, no spaces, UTF-8.
CREATE FUNCTION record_append(
    chain_name text, happened timestamptz, kinds text[], actors text[], queries uuid[], operands text[]
) RETURNS TABLE (id bigint, seq bigint, previous text, head text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    held public.curator_audithead := public.record_hold(chain_name);
    n int := cardinality(kinds);
    bytes bytea;
BEGIN
    IF n IS NULL OR n = 0 OR (n, n, n) IS DISTINCT FROM (cardinality(actors), cardinality(queries), cardinality(operands)) THEN
        RAISE EXCEPTION 'events need a kind, an actor, a query and operands each' USING ERRCODE = 'restrict_violation';
    END IF;
    IF happened IS NULL OR abs(extract(epoch FROM happened - clock_timestamp())) > 300 THEN
        RAISE EXCEPTION 'an event of % cannot be recorded at %: the clocks differ', happened, clock_timestamp()
            USING ERRCODE = 'restrict_violation';
    END IF;
    FOR i IN 1..n LOOP
        IF kinds[i] IS NULL OR actors[i] IS NULL OR json_typeof(operands[i]::json) IS DISTINCT FROM 'object' THEN
            RAISE EXCEPTION 'event % of chain % is not whole', held.seq + 1, chain_name USING ERRCODE = 'restrict_violation';
        END IF;
        bytes := convert_to(concat(
            '{"actor":', to_json(actors[i]), ',"at":"', to_char(happened AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'),
            '+00:00","chain":', to_json(chain_name), ',"data":', operands[i], ',"kind":', to_json(kinds[i]), ',"query":',
            coalesce(to_json(queries[i])::text, 'null'), ',"seq":', held.seq + 1, '}'
        ), 'UTF8');
        previous := held.head;
        held.seq := held.seq + 1;
        held.head := encode(sha256(convert_to(held.head, 'UTF8') || bytes), 'hex');
        INSERT INTO public.curator_auditevent AS e (chain, seq, kind, actor, query, at, body, previous, head)
            VALUES (chain_name, held.seq, kinds[i], actors[i], queries[i], happened, bytes, previous, held.head)
            RETURNING e.id INTO id;
        seq := held.seq;
        head := held.head;
        RETURN NEXT;
    END LOOP;
    UPDATE public.curator_audithead AS h SET seq = held.seq, head = held.head WHERE h.chain = chain_name;
END $$;

REVOKE ALL ON FUNCTION record_hold(text), record_append(text, timestamptz, text[], text[], uuid[], text[]) FROM PUBLIC;
"""

GUARDS = """
CREATE TRIGGER a_kept BEFORE DELETE ON curator_denial FOR EACH ROW EXECUTE FUNCTION guard_kept();
CREATE TRIGGER a_no_truncate BEFORE TRUNCATE ON curator_denial FOR EACH STATEMENT EXECUTE FUNCTION guard_kept();
CREATE TRIGGER c_columns BEFORE UPDATE ON curator_denial FOR EACH ROW
    EXECUTE FUNCTION guard_columns('count', 'told', 'since', 'last', 'what');
CREATE TRIGGER d_never_less BEFORE UPDATE ON curator_denial FOR EACH ROW EXECUTE FUNCTION guard_never_less('count', 'told');
"""


class Migration(migrations.Migration):
    dependencies = [
        ("curator", "0004_ticks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Denial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("actor", models.CharField(blank=True, max_length=150)),
                ("count", models.BigIntegerField()),
                ("told", models.BigIntegerField(default=0)),
                ("since", models.DateTimeField()),
                ("last", models.DateTimeField()),
                ("what", models.CharField(blank=True, max_length=2000)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "actor"), name="denial_counted_once"),
                    models.CheckConstraint(
                        condition=models.Q(("told__gte", 0), ("told__lte", models.F("count"))), name="denial_told_not_invented"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Verification",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("chains", models.JSONField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("done", "Done"), ("failed", "Failed")], default="waiting", max_length=8
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("done", models.PositiveBigIntegerField(default=0)),
                ("total", models.PositiveBigIntegerField(default=0)),
                ("ok", models.BooleanField(null=True)),
                ("checked", models.JSONField(default=dict)),
                ("first_difference", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "owner",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
            ],
        ),
        migrations.RunSQL(FUNCTIONS, elidable=False),
        migrations.RunSQL(GUARDS, elidable=False),
    ]

"""How Django and the broker reach PostgreSQL, embedded or external; nothing here opens a connection."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import environ
from psycopg.conninfo import make_conninfo

from rdp_site import postgres
from rdp_site.environment import read_secret

COMMON = {"ENGINE": "django.db.backends.postgresql", "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}


def embedded_databases(var: Path) -> dict[str, dict[str, Any]]:
    """Django's DATABASES for the embedded server of `var`; before set-up, a place where nobody answers."""
    cluster = postgres.load(var)
    return {"default": _embedded(cluster, postgres.APPLICATION), "owner": _embedded(cluster, postgres.OWNER)}


def external_databases(env: environ.Env) -> dict[str, dict[str, Any]]:
    """Django's DATABASES from `DATABASE_URL` (application role) and, where set, `DATABASE_OWNER_URL`."""
    names = {"default": "DATABASE_URL", "owner": "DATABASE_OWNER_URL"}
    return {alias: COMMON | env.db_url(name) for alias, name in names.items() if env.str(name, default="")}


def broker_conninfo(database: dict[str, Any]) -> str:
    """The broker's connection in libpq keywords.

    Each value is quoted twice, because the queue client parses this text and joins the values again without quotes.
    """
    options = database.get("OPTIONS", {})
    values = {
        "host": database.get("HOST") or options.get("host") or "localhost",
        "port": str(database.get("PORT") or options.get("port") or 5432),
        "dbname": database["NAME"],
        "user": database.get("USER") or options.get("user"),
        "password": database.get("PASSWORD") or options.get("password"),
    }
    return make_conninfo("", **{key: _quoted(str(value)) for key, value in values.items() if value})


def database_url(database: dict[str, Any]) -> str:
    """The same connection as a URL, for a child process (also understood by libpq's own programs)."""
    user, password, name = (quote(str(database[key]), safe="") for key in ("USER", "PASSWORD", "NAME"))
    host, port = str(database.get("HOST") or "localhost"), str(database.get("PORT") or 5432)
    return f"postgresql://{user}:{password}@/{name}?host={quote(host, safe='/')}&port={port}"


def _embedded(cluster: postgres.Cluster, role: str) -> dict[str, Any]:
    secret = read_secret("postgres_" + role.removeprefix("rdp_"), folder=cluster.var / "secrets")
    return COMMON | {
        "NAME": postgres.DATABASE,
        "HOST": cluster.host,
        "PORT": str(cluster.port),
        "USER": role,
        "PASSWORD": secret or "",
        "OPTIONS": {"require_auth": "scram-sha-256"},
    }


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

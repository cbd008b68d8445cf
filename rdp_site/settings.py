"""Settings, read from the environment; importing them opens no connection, starts nothing and writes nothing.

Without `DATABASE_URL` the product brings its own PostgreSQL (see `rdp_site.postgres`). Every switch is described in README.md.
"""

import secrets
from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from rdp_site import openapi
from rdp_site.connections import broker_conninfo, embedded_databases, external_databases
from rdp_site.environment import ROOT, VAR, default_receipts, is_embedded, read_secret

env = environ.Env()

DEBUG = env.bool("DEBUG", default=False)
TESTING = env.bool("RDP_TESTING", default=False)  # the test suite's own switch: failpoints, plain static files
# Set-up stores a key; a process before it (a check, a type checker) gets one that nobody knows and nothing keeps.
SECRET_KEY = env.str("SECRET_KEY", default="") or read_secret("secret_key") or secrets.token_urlsafe(48)
CONTENT_HASH_KEY = env.str("RDP_CONTENT_HASH_KEY", default="") or read_secret("content_hash_key")  # the worker's side only
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

BIND = env.str("RDP_BIND", default="127.0.0.1:8000")
WORKERS = env.int("RDP_WORKERS", default=2)
TICK_MS = env.int("RDP_TICK_MS", default=0 if TESTING else 250)  # publishing tick: see curator/ticks.py; 0: off
WORKER_PATIENCE = env.float("RDP_WORKER_PATIENCE", default=180.0)
TASK_SECONDS = env.float("RDP_TASK_SECONDS", default=150.0)  # below the patience: what hangs ends alone, not with its worker

# Outside var/, so that a copy of var/ which is restored does not bring its own receipts along.
RECEIPTS_DIR = Path(env.str("RDP_RECEIPTS", default="") or default_receipts())
VERSIONS_DIR = VAR / "versions"
UPLOADS_DIR = VAR / "uploads"
UPLOAD_MAX_BYTES = env.int("RDP_UPLOAD_MAX_BYTES", default=1 << 30)
ENGINE = env.str("RDP_ENGINE", default="polars")  # what counts: polars or duckdb

INSTALLED_APPS = [
    "accounts",
    "curator",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "axes",
    "csp",
    "django_guid",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "django_guid.middleware.guid_middleware",  # first: every line of the log and every answer has the request's id
    "rdp_site.logs.log_requests",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "rdp_site.bodies.BodyLimit",  # before the check that reads forms
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",  # last: it turns a lockout into its answer
]

ROOT_URLCONF = "rdp_site.urls"
WSGI_APPLICATION = "rdp_site.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "curator.web.header.header",
            ],
        },
    }
]

# "default" is the application role. "owner" migrates; outside embedded mode it exists only where DATABASE_OWNER_URL is set.
DATABASES = embedded_databases(VAR) if is_embedded() else external_databases(env)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# People

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"
# Ten failures of one name from one address; the same person elsewhere is not locked out with the guesser.
AXES_FAILURE_LIMIT = 10
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
AXES_CLIENT_IP_CALLABLE = "rdp_site.addresses.client_address"
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "next"]  # an address to go to may be a secret: not kept with a failure
AXES_LOCKOUT_CALLABLE = "accounts.sign_ins.locked_out"

PASSWORD_RESET_TIMEOUT = 3_600  # seconds; asking again is easy
# How often, for one person (whichever key they use) and for one address that is nobody's: see accounts/throttles.py
API_RATE = env.str("RDP_API_RATE", default="1200/minute")
API_ANONYMOUS_RATE = env.str("RDP_API_ANONYMOUS_RATE", default="60/minute")
QUOTE_RATE = env.str("RDP_QUOTE_RATE", default="240/minute")  # quotes, rehearsals and submits of one person, on pages or not
SIGN_IN_RATE = env.str("RDP_SIGN_IN_RATE", default="30/minute")  # from one network, whoever's name is tried
DOOR_RATE = "20/hour"  # from one address: new accounts from invitations, requests for a new password
RESET_RATE = "3/hour"  # to one mail address

# Hardening

HTTPS = env.bool("RDP_HTTPS", default=False)  # on as soon as the site is reached by https
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^health/"]  # probes come from beside the proxy
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
# Only behind a proxy that sets this header itself, removing what clients send, and appends to X-Forwarded-For.
BEHIND_PROXY = env.bool("RDP_BEHIND_PROXY", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
FILE_UPLOAD_TEMP_DIR = UPLOADS_DIR if UPLOADS_DIR.is_dir() else None  # a curator's file never passes through a shared folder
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2_000

# Pages

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = VAR / "static"
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "curator.web.static_files.PlotlyFinder",
]
WHITENOISE_USE_FINDERS = DEBUG or TESTING
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or TESTING
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

globals().update(env.email_url("EMAIL_URL", default="consolemail://"))  # EMAIL_BACKEND, EMAIL_HOST, …
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="curator@localhost")
EMAIL_TIMEOUT = 10  # seconds for a mail server to answer; whatever it does, no answer to a question waits for it
SITE_URL = env.str("RDP_SITE_URL", default=f"http://{BIND}").rstrip("/")  # in e-mails; never what a client wrote into Host
MAIL_AFTER = env.float("RDP_MAIL_AFTER", default=60.0)  # seconds in which a notice may be seen on a page first

# Heads of the chains noted outside, for a day on which the database is not believed

ANCHORS = env.str("RDP_ANCHORS", default="")
ANCHOR_MAIL = env.str("RDP_ANCHOR_MAIL", default="")
ANCHOR_SECONDS = env.float("RDP_ANCHOR_SECONDS", default=3600.0)
ANCHOR_STATE = VAR / "anchors-left"
if ANCHORS and VAR.resolve() in Path(ANCHORS).resolve().parents:
    raise ImproperlyConfigured("RDP_ANCHORS: expected a file outside RDP_VAR, or it is rewritten together with the database.")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "curator.api.authentication.BearerAuthentication",
        "curator.api.authentication.SessionOrNothing",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated", "curator.api.authentication.ScopeAllows"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["curator.api.parsers.GuardedJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "curator.api.errors.handle",
    "COERCE_DECIMAL_TO_STRING": True,
}
SPECTACULAR_SETTINGS = openapi.SETTINGS

# The worker: messages carry ids and nothing else, results live in rows

CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="") or "pgmq://localhost"  # the default is the database below
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {}
if CELERY_BROKER_URL.startswith("pgmq:"):
    CELERY_BROKER_TRANSPORT = "rdp_site.broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "conn_string": broker_conninfo(DATABASES["default"]),
        "init_extension": False,
        "use_notify": True,
        "notify_throttle_interval_ms": 0,  # a suppressed wake-up would wait for the next poll
        "wait_time_seconds": 0,  # no polling inside the server: a read, then LISTEN
        "pool_size": 4,
        "pool_timeout": 2,  # or a submit would hang 30 s while the broker is away
        "visibility_timeout": 300,
    }
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = False  # a task that kills its process is the query table's business, not the queue's
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # for ever: the supervisor restarts processes that end, not ones that wait
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_TASK_PUBLISH_RETRY = False  # a doorbell that cannot be rung now is rung by the sweep
CELERY_TIMEZONE = "UTC"
SWEEP_SECONDS = env.float("RDP_SWEEP_SECONDS", default=5.0)
#: On a busy machine a sweep may wait for longer than until the next one, just when lost bells are to be rung again.
SWEEP_EXPIRES = max(30.0, SWEEP_SECONDS)
CELERY_BEAT_SCHEDULE = {"sweep": {"task": "curator.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_EXPIRES}}}
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR / "beat-schedule")

LOG_FORMAT = env.str("RDP_LOG_FORMAT", default="plain")  # plain, for people; json, for a collector
METRICS_TOKEN = env.str("RDP_METRICS_TOKEN", default="")  # empty: there is no /metrics
DJANGO_GUID = {"GUID_HEADER_NAME": "X-Request-ID", "VALIDATE_GUID": True, "EXPOSE_HEADER": False}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "correlation_id": {"()": "django_guid.log_filters.CorrelationId", "correlation_id_field": "correlation_id"},
        "without_paths": {"()": "rdp_site.logs.WithoutPaths"},
    },
    "formatters": {
        "plain": {
            "()": "rdp_site.logs.PlainFormatter",
            "format": "{asctime} {levelname} [{correlation_id}] {name}: {message}",
            "style": "{",
        },
        "json": {"()": "rdp_site.logs.StructuredFormatter"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["correlation_id", "without_paths"]}
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        "axes": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},  # its lines about refused requests repeat the path; ours do not
        "django_guid": {"level": "ERROR"},
        "pgmq": {"level": "WARNING"},
    },
}

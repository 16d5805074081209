"""All settings, from the environment only (docs/settings.md lists them). Runs with none set; loud on a bad value."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from graph.address import parse_graph_url
from memory_site import environment as env

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"

# --- What an operator sets ---------------------------------------------------------------------------------------
DATA_DIR = Path(env.text("DATA_DIR", str(BASE_DIR / "var")))
DEBUG = env.flag("DEBUG", False)
SECRET_KEY = env.secret("SECRET_KEY", DATA_DIR)
TOKEN_PEPPER = env.secret(
    "TOKEN_PEPPER", DATA_DIR
)  # apart from SECRET_KEY: rotating that must not kill every agent
DATABASE_URL = env.text("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'desk.sqlite3'}"
GRAPH_URL = env.text("GRAPH_URL")  # bolt://user:password@host:7687; empty: the relational store
try:
    parse_graph_url(GRAPH_URL)
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from error
ENCODER = env.text("ENCODER", "onnx").strip()
if ENCODER != "onnx" and ENCODER.partition(":")[0] != "sentence-transformers":
    raise ImproperlyConfigured(
        f"ENCODER={ENCODER!r} must be onnx, sentence-transformers or sentence-transformers:<model>."
    )
# An OpenAI-compatible endpoint that puts a context pack's shortened items into its own words; empty: none is asked.
LLM_URL = env.address("LLM_URL", "") if env.text("LLM_URL").strip() else ""
LLM_MODEL = env.text("LLM_MODEL").strip()
LLM_API_KEY = env.text("LLM_API_KEY").strip()
LLM_TIMEOUT = env.number("LLM_TIMEOUT", 10, least=1, most=100)  # seconds; gunicorn's own is 120
if LLM_URL and not LLM_MODEL:
    raise ImproperlyConfigured("LLM_URL is set: LLM_MODEL must name the model to ask.")
if not LLM_API_KEY.isascii() or not LLM_API_KEY.isprintable():
    raise ImproperlyConfigured("LLM_API_KEY holds a character that no HTTP header can carry.")
HOST = env.text("HOST", "127.0.0.1")
PORT = env.number("PORT", 8000, least=1, most=65535)
SITE_URL = env.address("SITE_URL", f"http://127.0.0.1:{PORT}")
ALLOWED_HOSTS = env.hosts("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = env.origins("CSRF_TRUSTED_ORIGINS")
BEHIND_TLS_PROXY = env.flag("BEHIND_TLS_PROXY", False)
TRUSTED_PROXIES = env.number("TRUSTED_PROXIES", 0, least=0, most=10)
# A proxy that signs people in: the header that names them, the addresses from which it is believed, and the projects
# whose viewers unknown people become (empty: they stay outside).
PROXY_USER_HEADER = env.text("PROXY_USER_HEADER").strip()
PROXY_USER_FROM = env.networks("PROXY_USER_FROM")
PROXY_USER_PROJECTS = env.words("PROXY_USER_PROJECTS")
if PROXY_USER_HEADER and not PROXY_USER_FROM:
    raise ImproperlyConfigured(
        "PROXY_USER_HEADER is set: PROXY_USER_FROM must name the proxy's addresses, or anybody could be anybody."
    )
if not all(sign.isascii() and (sign.isalnum() or sign == "-") for sign in PROXY_USER_HEADER):
    raise ImproperlyConfigured(f"PROXY_USER_HEADER={PROXY_USER_HEADER!r} must look like X-Forwarded-User.")
# Mail, for the daily digest alone: smtp://user:password@host:587 (STARTTLS), smtps://…:465; empty: into the log.
EMAIL = env.mail("EMAIL_URL")
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "Memory Desk <desk@localhost>").strip()
METRICS_TOKEN = env.text("METRICS_TOKEN")  # empty: /metrics answers this machine alone
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:
    raise ImproperlyConfigured("METRICS_TOKEN is shorter than 16 characters.")
TIME_ZONE_SHOWN = env.zone("TIME_ZONE_SHOWN", "UTC")
LOG_FORMAT = env.choice("LOG_FORMAT", "text", ("text", "json"))
LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))

# --- Sizes and times ---------------------------------------------------------------------------------------------
TEXT_MAX_BYTES = 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = (
    4 * TEXT_MAX_BYTES
)  # a form of several long texts; well below max_allowed_packet
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
LOGIN_TRIES = 8
LOGIN_TRIES_ADDRESS = 60
LOGIN_LOCKED_MINUTES = 15
# Calls of one token a minute, and wrong tokens from one address; 0: no limit.
API_READS_PER_MINUTE = env.number("API_READS_PER_MINUTE", 60_000, least=0, most=10_000_000)
API_WRITES_PER_MINUTE = env.number("API_WRITES_PER_MINUTE", 30_000, least=0, most=10_000_000)
API_FAILURES_PER_MINUTE = env.number("API_FAILURES_PER_MINUTE", 60, least=0, most=10_000_000)
SWEEP_SECONDS = env.number(
    "SWEEP_SECONDS", 15, least=1, most=3600
)  # how long a plain-SQL write may go unseen
# Days that the worker keeps them; 0: for ever.
KEEP_IDEMPOTENCY_KEYS_DAYS = env.number("KEEP_IDEMPOTENCY_KEYS_DAYS", 7, least=1, most=3650)
KEEP_READS_DAYS = env.number("KEEP_READS_DAYS", 400, least=0, most=36500)
KEEP_CACHE_DAYS = env.number("KEEP_CACHE_DAYS", 7, least=1, most=3650)  # after an entry expired
KEEP_ALERTS_DAYS = env.number("KEEP_ALERTS_DAYS", 30, least=1, most=3650)  # after one was last pasted
KEEP_BULK_JOBS_DAYS = env.number("KEEP_BULK_JOBS_DAYS", 30, least=1, most=3650)
KEEP_RUNS_DAYS = env.number("KEEP_RUNS_DAYS", 0, least=0, most=36500)

EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL else 'console'}.EmailBackend"
EMAIL_HOST, EMAIL_PORT = EMAIL.get("host", ""), EMAIL.get("port", 0)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = EMAIL.get("user", ""), EMAIL.get("password", "")
EMAIL_USE_TLS, EMAIL_USE_SSL = EMAIL.get("tls", False), EMAIL.get("ssl", False)
EMAIL_TIMEOUT = 20

# --- Database ----------------------------------------------------------------------------------------------------
try:
    _database: dict[str, Any] = dict(
        dj_database_url.parse(DATABASE_URL, conn_max_age=60, conn_health_checks=True)
    )
except (ValueError, KeyError) as error:
    raise ImproperlyConfigured(
        "DATABASE_URL must look like mysql://user:password@host:3306/name or sqlite:///path."
    ) from error

if _database["ENGINE"] == "django.db.backends.sqlite3":
    if _database["NAME"] != ":memory:":
        try:
            Path(str(_database["NAME"])).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ImproperlyConfigured(
                f"DATABASE_URL: {_database['NAME']} cannot be made: {error}"
            ) from error
    _database["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536; PRAGMA mmap_size=268435456;",
    }
elif _database["ENGINE"] == "django.db.backends.mysql":
    if not _database["NAME"]:
        raise ImproperlyConfigured("DATABASE_URL names no database: mysql://user:password@host:3306/name.")
    _database["OPTIONS"] = {
        **_database.get("OPTIONS", {}),
        "charset": "utf8mb4",
        "isolation_level": "read committed",
        "connect_timeout": 5,
        # MySQL sorts rows with their JSON, and answers 1038 where the buffer (256 kB) does not hold one of them: a
        # run's three columns of JSON take up to 7 MB there. It grows to this only when it is needed.
        "init_command": "SET time_zone = '+00:00', innodb_lock_wait_timeout = 5, sort_buffer_size = 16777216",
    }
    _database["TEST"] = {"CHARSET": "utf8mb4"}
else:
    raise ImproperlyConfigured("DATABASE_URL: Memory Desk keeps its records in MySQL, MariaDB or SQLite.")
DATABASES = {"default": _database}
# SQLite is one writer: more processes would only wait for each other.
WEB_PROCESSES = env.number("WEB_PROCESSES", 2, least=1, most=64)
if _database["ENGINE"] == "django.db.backends.sqlite3":
    WEB_PROCESSES = 1
WEB_THREADS = env.number("WEB_THREADS", 8, least=1, most=128)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Application -------------------------------------------------------------------------------------------------
KIND_APPS = ["decisions", "patterns", "pitfalls", "work_sessions", "runs"]
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "csp",
    "axes",
    "database",
    "projects",
    "records",
    "recall",
    "graph",
    *KIND_APPS,
    "curation",
    "desk",
    "agent_api",
    "transfer",
]

MIDDLEWARE = [
    "memory_site.middleware.RequestId",
    "memory_site.metrics.RequestMetrics",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",  # pages; files are sent by the line above, as they are or compressed before
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "projects.proxy.ProxySignIn",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "projects.middleware.AccessMiddleware",
    "records.middleware.VerbErrors",
    "axes.middleware.AxesMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "desk.context.desk",
            ],
        },
    },
]

ROOT_URLCONF = "memory_site.urls"
WSGI_APPLICATION = "memory_site.wsgi.application"

# --- Accounts ----------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "projects.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
PASSWORD_RESET_TIMEOUT = 24 * 3600  # seconds that a one-time login link lives
# A lock on the pair, so that nobody can lock another person out from elsewhere, and a wider one on the address.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HANDLER = "projects.throttle.LoginThrottle"
AXES_CLIENT_IP_CALLABLE = "projects.throttle.client_address"
AXES_FAILURE_LIMIT = LOGIN_TRIES
AXES_COOLOFF_TIME = LOGIN_LOCKED_MINUTES / 60
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_HTTP_RESPONSE_CODE = 429
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# --- Security ----------------------------------------------------------------------------------------------------
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
    },
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS_PROXY
SESSION_COOKIE_NAME = "memory_desk_session"
CSRF_COOKIE_NAME = "memory_desk_csrf"
CSRF_FAILURE_VIEW = "memory_site.views.csrf_failure"
if BEHIND_TLS_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_SSL_REDIRECT = True
    # Balancers and Prometheus ask the process itself, without TLS.
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^metrics$"]
# HSTS for other hosts of the domain, and in browsers' own lists, is not this desk's to promise.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# --- Language, time, static --------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = (
    len(LANGUAGES) > 1
)  # in one language each look-up would answer what it was asked, a hundred times a page
USE_TZ = True
TIME_ZONE = "UTC"  # stored; each person's own zone is shown
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
with suppress(OSError):  # whitenoise warns of a missing folder; on a read-only disk it was collected before
    STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# --- Agents' API -------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["agent_api.authentication.BearerToken"],
    "DEFAULT_PERMISSION_CLASSES": ["agent_api.permissions.TokenScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["agent_api.parsers.StrictJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "agent_api.pagination.KeysetPagination",
    "DEFAULT_FILTER_BACKENDS": ["agent_api.filtering.FilterSetBackend"],
    "DEFAULT_SCHEMA_CLASS": "agent_api.openapi.DoorSchema",
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "agent_api.problems.problem_response",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Memory Desk API",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    # A write's serializers are classes of their own, so nothing is to be split or patched.
    "COMPONENT_SPLIT_PATCH": False,
    "COMPONENT_SPLIT_REQUEST": False,
    "ENUM_NAME_OVERRIDES": {
        "ReviewStateEnum": "records.models.ReviewState",
        "DecisionStatusEnum": "decisions.models.Status",
        "RunStatusEnum": "runs.models.RunStatus",
        "RunEndEnum": "runs.api.ENDED",
        "LinkRelationEnum": "records.models.Relation",
        "GraphRelationEnum": "graph.store.Relation",
        "RecordBecameEnum": "records.became.BECAME",
        "LinkBecameEnum": "agent_api.links.BECAME",
        "CacheBecameEnum": "agent_api.cache.BECAME",
    },
    "PREPROCESSING_HOOKS": ["agent_api.openapi.without_optional_slash"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "agent_api.openapi.with_problems",
        "agent_api.openapi.with_examples",
    ],
}

# --- Logs --------------------------------------------------------------------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "request_id": {"()": "memory_site.logs.RequestIdFilter"},
        "safe_line": {"()": "memory_site.logs.SafeLineFilter"},
    },
    "formatters": {
        "text": {"format": "{asctime} {levelname:<7} {request_id} {name}: {message}", "style": "{"},
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "format": "{asctime}{levelname}{name}{message}{request_id}",
            "style": "{",
            "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
        },
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["request_id", "safe_line"],
        }
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django.server": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        "neo4j": {"level": "WARNING"},
        "axes": {"level": "WARNING"},
    },
}

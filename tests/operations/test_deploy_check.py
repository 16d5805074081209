"""`manage.py check --deploy` says nothing with the settings of a deployment behind a proxy that speaks TLS."""

import os
import subprocess
import sys
from pathlib import Path

from django.test import Client, override_settings

TOP = Path(__file__).resolve().parents[2]
PRODUCTION = {
    "BEHIND_TLS_PROXY": "1", "TRUSTED_PROXIES": "1", "SITE_URL": "https://desk.example.org",
    "ALLOWED_HOSTS": "desk.example.org,127.0.0.1", "CSRF_TRUSTED_ORIGINS": "https://desk.example.org",
    "METRICS_TOKEN": "0123456789abcdef", "LOG_FORMAT": "json",
}  # fmt: skip


def check(tmp_path, **settings):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO_ALLOW")}
    environment = {
        **kept, "DATABASE_URL": f"sqlite:///{tmp_path}/desk.sqlite3", "DATA_DIR": str(tmp_path), "GRAPH_URL": "",
        **settings,
    }  # fmt: skip
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "INFO"]
    return subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, timeout=120)


def test_it_is_clean_in_production_and_not_without_tls(tmp_path):
    done = check(tmp_path, **PRODUCTION)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout
    assert "security.W008" in check(tmp_path).stderr


@override_settings(
    SECURE_SSL_REDIRECT=True, SECURE_REDIRECT_EXEMPT=[r"^healthz$", r"^metrics$"],
    SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
)  # fmt: skip
def test_plain_http_is_redirected_but_for_those_who_watch_the_process(db):
    client = Client()
    assert client.get("/login/").url == "https://testserver/login/"
    assert client.get("/login/", headers={"X-Forwarded-Proto": "https"}).status_code == 200
    for path in ("/healthz", "/metrics"):
        assert client.get(path).status_code == 200

"""Settings: none is needed, and a value that cannot be right stops the start with a line that names it."""

from __future__ import annotations

import os
import runpy
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from memory_site import environment

SETTINGS = Path(environment.__file__).with_name("settings.py")


@pytest.fixture
def load(monkeypatch, tmp_path):
    def load_with(**variables: str) -> dict[str, Any]:
        for name in ("DATABASE_URL", "DATA_DIR", "SECRET_KEY", "TOKEN_PEPPER", "SITE_URL", "ENCODER"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"DATA_DIR": str(tmp_path / "data"), **variables}.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(SETTINGS))

    return load_with


def test_none_is_needed_and_nothing_is_open_by_default(load, tmp_path):
    found = load()
    assert (found["DEBUG"], found["TRUSTED_PROXIES"], found["HOST"]) == (False, 0, "127.0.0.1")
    assert found["ALLOWED_HOSTS"] == ["127.0.0.1", "localhost", "[::1]"]
    for name in ("secret_key", "token_pepper"):
        assert stat.S_IMODE((tmp_path / "data" / name).stat().st_mode) == 0o600
    again = load()
    assert (again["SECRET_KEY"], again["TOKEN_PEPPER"]) == (found["SECRET_KEY"], found["TOKEN_PEPPER"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIME_ZONE_SHOWN", "Mars/Base"), ("TIME_ZONE_SHOWN", "America"), ("TIME_ZONE_SHOWN", "../etc/passwd"),
        ("ENCODER", "fast"), ("ENCODER", "onnx:other"),
        ("SITE_URL", "desk.example.org"), ("SITE_URL", "ftp://desk"), ("SITE_URL", "http://"), ("SITE_URL", "http://a:b"),
        ("ALLOWED_HOSTS", "https://desk.example.org"), ("ALLOWED_HOSTS", "desk:8000"),
        ("CSRF_TRUSTED_ORIGINS", "desk.example.org"), ("CSRF_TRUSTED_ORIGINS", "https://desk.example.org/path"),
        ("DATABASE_URL", "postgres://a/b"), ("DATABASE_URL", "shop"), ("DATABASE_URL", "mysql://u:p@host"),
        ("DATABASE_URL", "sqlite:////proc/none/desk.sqlite3"),
        ("DATA_DIR", "/proc/none"), ("SECRET_KEY", "short"), ("TOKEN_PEPPER", "short"),
        ("WEB_PROCESSES", "many"), ("WEB_THREADS", "0"), ("PORT", "70000"), ("TRUSTED_PROXIES", "-1"),
        ("SWEEP_SECONDS", "1.5"), ("METRICS_TOKEN", "short"), ("KEEP_RUNS_DAYS", "-1"), ("KEEP_IDEMPOTENCY_KEYS_DAYS", "0"), ("DEBUG", "maybe"), ("BEHIND_TLS_PROXY", "x"), ("LOG_LEVEL", "LOUD"), ("LOG_FORMAT", "xml"),
    ],
)  # fmt: skip
def test_a_bad_value_is_named(load, name, value):
    with pytest.raises(ImproperlyConfigured, match=name):
        load(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIME_ZONE_SHOWN", "Asia/Kolkata"), ("SITE_URL", "https://example.org:8443/desk/"), ("ALLOWED_HOSTS", "*"),
        ("ALLOWED_HOSTS", ".example.org, [::1],10.0.0.1"), ("CSRF_TRUSTED_ORIGINS", "https://*.example.org,http://a:81"),
        ("ENCODER", "sentence-transformers:/models/mine"), ("DATABASE_URL", "mysql://u:p@h:3306/desk"),
    ],
)  # fmt: skip
def test_a_good_value_is_taken(load, name, value):
    load(**{name: value})


@pytest.mark.parametrize("content", ["", "cut sho"])
def test_a_kept_secret_that_was_cut_short_is_no_secret(load, tmp_path, content):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "token_pepper").write_text(content)
    with pytest.raises(ImproperlyConfigured, match="token_pepper"):
        load()


def test_a_full_disk_leaves_no_empty_secret(tmp_path, monkeypatch):
    def full(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdopen", full)
        with pytest.raises(ImproperlyConfigured, match="No space left"):
            environment.secret("SECRET_KEY_OF_TEST", tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert len(environment.secret("SECRET_KEY_OF_TEST", tmp_path)) >= 32


def test_a_secret_that_another_process_made_meanwhile_is_taken(tmp_path):
    path = tmp_path / "key"
    path.write_text("x" * 40)
    environment._keep_once(path, "y" * 40)
    assert path.read_text() == "x" * 40
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("", {}),
        ("smtp://desk:p%40ss@mail.example.org", ("mail.example.org", 587, "desk", "p@ss", True, False)),
        ("smtps://mail.example.org", ("mail.example.org", 465, "", "", False, True)),
        ("smtp+plain://127.0.0.1:2525", ("127.0.0.1", 2525, "", "", False, False)),
    ],
)
def test_mail_is_one_address(monkeypatch, value, wanted):
    monkeypatch.setenv("EMAIL_URL", value)
    assert environment.mail("EMAIL_URL") == (
        wanted and dict(zip(("host", "port", "user", "password", "tls", "ssl"), wanted, strict=True))
    )


@pytest.mark.parametrize(
    "value", ["mail.example.org", "http://x", "smtp://", "smtp://x:port", "smtp://x/y", "smtp://x?tls=1"]
)
def test_a_mail_address_that_cannot_be_right_stops_the_start(monkeypatch, value):
    monkeypatch.setenv("EMAIL_URL", value)
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL"):
        environment.mail("EMAIL_URL")


def test_networks_are_addresses(monkeypatch):
    monkeypatch.setenv("PROXY_USER_FROM", "10.0.0.5, 10.1.0.0/16")
    assert [str(one) for one in environment.networks("PROXY_USER_FROM")] == ["10.0.0.5/32", "10.1.0.0/16"]
    monkeypatch.setenv("PROXY_USER_FROM", "proxy.local")
    with pytest.raises(ImproperlyConfigured, match="PROXY_USER_FROM"):
        environment.networks("PROXY_USER_FROM")

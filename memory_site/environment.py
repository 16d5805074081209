"""Reading settings from the environment: every setting NAME may also come as NAME_FILE (a secret's path)."""

import os
import re
import secrets
import tempfile
import zoneinfo
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

SECRET_LENGTH = 32
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def text(name: str, default: str = "") -> str:
    """The value of NAME, or the content of the file that NAME_FILE names. Both at once is an error."""
    path = os.environ.get(f"{name}_FILE")
    if path is None:
        return os.environ.get(name, default)
    if name in os.environ:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; keep one.")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{name}_FILE={path} cannot be read: {error}") from error


def flag(name: str, default: bool) -> bool:
    value = text(name, "1" if default else "0").strip().lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={value!r} is not a yes or a no; use 1 or 0.")


def number(name: str, default: int, *, least: int, most: int) -> int:
    value = text(name, str(default)).strip()
    if not value.isdecimal() or not least <= int(value) <= most:
        raise ImproperlyConfigured(f"{name}={value!r} must be a whole number from {least} to {most}.")
    return int(value)


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = text(name, default).strip()
    if value not in allowed:
        raise ImproperlyConfigured(f"{name}={value!r} must be one of: {', '.join(allowed)}.")
    return value


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def zone(name: str, default: str) -> str:
    """A time zone by its name in the IANA database."""
    value = text(name, default).strip()
    try:
        zoneinfo.ZoneInfo(value)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:  # "America" is a folder
        raise ImproperlyConfigured(
            f"{name}={value!r} is no time zone; one is named like Europe/Paris."
        ) from error
    return value


def address(name: str, default: str) -> str:
    """Where people find the desk: http or https, a host, and no question after it."""
    value = text(name, default).strip().rstrip("/")
    if not _is_origin(value, path=True):
        raise ImproperlyConfigured(f"{name}={value!r} must look like https://desk.example.org.")
    return value


def hosts(name: str, default: str) -> list[str]:
    """Names of hosts: with a scheme or a port none of them would ever match."""
    found = words(name, default)
    for value in found:
        if not re.fullmatch(r"\*|\.?[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]", value):
            raise ImproperlyConfigured(f"{name}: {value!r} is no host name; one looks like desk.example.org.")
    return found


def mail(name: str) -> dict[str, Any]:
    """smtp://user:password@host:port (STARTTLS), smtps:// (TLS from the start), smtp+plain:// (neither); {} if empty."""
    value = text(name).strip()
    if not value:
        return {}
    known = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error
    if (
        parts.scheme not in known
        or not parts.hostname
        or parts.query
        or parts.fragment
        or parts.path.strip("/")
    ):
        raise ImproperlyConfigured(f"{name} must look like smtp://user:password@mail.example.org:587.")
    return {
        "host": parts.hostname,
        "port": port or known[parts.scheme],
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "tls": parts.scheme == "smtp",
        "ssl": parts.scheme == "smtps",
    }


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Comma-separated addresses and networks: 10.0.0.5, 10.1.0.0/16."""
    try:
        return [ip_network(word) for word in words(name)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error


def origins(name: str) -> list[str]:
    found = words(name)
    for value in found:
        if not _is_origin(value.replace("://*.", "://any."), path=False):
            raise ImproperlyConfigured(f"{name}: {value!r} must look like https://desk.example.org.")
    return found


def _is_origin(value: str, *, path: bool) -> bool:
    try:
        parts = urlsplit(value)
        _port = parts.port  # raises for one that is no number
    except ValueError:
        return False
    clean = not (parts.query or parts.fragment or parts.username) and (path or not parts.path)
    return clean and parts.scheme in ("http", "https") and bool(parts.hostname)


def secret(name: str, kept_in: Path) -> str:
    """NAME, or a value made once and kept in a file only its owner reads, so that a first run needs no setting."""
    value, kept = text(name), ""
    path = kept_in / name.lower()
    if not value:
        try:
            if not path.exists():
                _keep_once(path, secrets.token_urlsafe(48))
            value = path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ImproperlyConfigured(
                f"{name} cannot be kept in DATA_DIR={str(kept_in)!r}: {error}. Set {name}, or a folder that can be written."
            ) from error
        kept = f" (in {path})"
    if len(value) < SECRET_LENGTH:
        raise ImproperlyConfigured(f"{name}{kept} is shorter than {SECRET_LENGTH} characters.")
    return value


def _keep_once(path: Path, value: str) -> None:
    """Write the file whole or not at all: one that a full disk or a kill cut short would be an empty secret."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(value)
        with suppress(FileExistsError):  # another process made it in between
            os.link(draft, path)
    finally:
        os.unlink(draft)

"""Reading settings from the environment: every setting NAME may also come as NAME_FILE (a secret's path)."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

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


def secret(name: str, kept_in: Path) -> str:
    """NAME, or a value made once and kept in a file only its owner reads, so that a first run needs no setting."""
    value = text(name)
    if value:
        if len(value) < 32:
            raise ImproperlyConfigured(f"{name} is shorter than 32 characters.")
        return value
    path = kept_in / name.lower()
    if not path.exists():
        kept_in.mkdir(parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(48))
        except FileExistsError:  # another process made it in between
            pass
    return path.read_text(encoding="ascii").strip()

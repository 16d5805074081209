"""Secrets in a text, found by the forms that their issuers give them, and taken out before anything is stored.

Few and precise patterns: prose, commit ids, UUIDs, hashes and placeholders stay as they are. Each redaction leaves
`[redacted: <kind>]` in its place, so that a reader sees that something was there, and what.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

MARK = "[redacted: {}]"
LONGER_THAN_WORDS = 32  # characters
PASSES = 4  # where two secrets overlap, the rest of one is seen when the other has gone


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret found: its kind, and where the secret itself stands."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True)
class _Form:
    """`hints`: a text without any of these (in lower case) cannot match. The group `secret` is what goes, else all."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[re.Match[str]], bool] = lambda match: True


# A word character on neither side, so that a longer identifier is no match; what ends `%3D` or a written `\n` is none.
_ALONE = r"(?:(?<![A-Za-z0-9_\-])|(?<=%[0-9A-Fa-f]{{2}})|(?<=\\[nrt])){}(?![A-Za-z0-9_\-])"


def _token(kind: str, body: str, *hints: str) -> _Form:
    return _Form(
        kind, tuple(hint.lower() for hint in hints), re.compile(_ALONE.format(f"(?P<secret>{body})"))
    )


_NAMES = (
    r"pass(?:word|wd|phrase)?|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|api[_-]?(?:key|secret|token)|access[_-]?(?:key|token)"
    r"|auth[_-]?token|client[_-]?secret|private[_-]?key|refresh[_-]?token|session[_-]?token|token|account[_-]?key"
    r"|(?:encryption|signing|master)[_-]?key"
)
# At the beginning of a word, of a hump, or `PGPASSWORD`.
_NAME = rf"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z])|(?=(?i:passw)))(?i:{_NAMES})"
# Up to the next parameter of an address.
_VALUE = r"(?:(?!&[A-Za-z_]+=)[^\s\"'`,;<>{}()\[\]|\\]){8,}"
# The same in JSON, where the key names the value and its quotes bound it.
_NAMED, _WHOLE = re.compile(rf"{_NAME}$"), re.compile(r"(?P<secret>\S{8,})")
_PLACEHOLDER = re.compile(
    r"""(?ix) ^(?: [x*.•_\-#0]+ | \$.* | %.*% | .*\.\.\.+.* | .*… .*
    | (?:my|your|the|some|a|an|user|db|root|test|dummy|fake|sample|example|demo|default|super|very|new|old|this|any)?[\W_]*
      (?:pass(?:word|wd|phrase)?|pwd|secret|token|key|value|string|here|changeme|change[_-]?it|change[_-]?me|example|placeholder
        |redacted|none|null|true|false|undefined|required|optional|hidden|todo|foobar|letmein)
      (?:[\W_]*+(?:pass(?:word|wd)?|pwd|secret|token|key|value|here|\d++))*+[!.]* )$"""
)


def _is_random(match: re.Match[str]) -> bool:
    """A value that somebody generated or chose as a password: several sorts of characters, and no placeholder, path,
    address, identifier or call."""
    value = match["secret"]
    if _PLACEHOLDER.match(value) or value.startswith(("http:", "https:", "/", "./", "~", "-", "=", ":", "&")):
        return False
    letters = any(letter.isalpha() for letter in value)
    digits = sum(letter.isdigit() for letter in value)
    if not letters or not digits or not value.isascii():
        return False
    mixed = any(letter.islower() for letter in value) and any(letter.isupper() for letter in value)
    odd = any(not letter.isalnum() and letter not in "._-/:" for letter in value)
    words = re.fullmatch(r"[A-Za-z]+\d{0,3}(?:[._/:-][A-Za-z]*\d{0,3})*", value)
    return not words and (mixed or odd or (digits >= 3 and len(value) >= 16)) and len(set(value)) >= 6


def _is_password(match: re.Match[str]) -> bool:
    """Between `user:` and `@` of an address: any but a placeholder or a variable."""
    value = match["secret"]
    return not _PLACEHOLDER.match(value) and value.lower() != match["user"].lower() and len(set(value)) > 3


FORMS = (
    _Form(
        "private key", ("private key",),
        re.compile(
            r"-----BEGIN (?P<what>(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?)-----"
            r"(?P<secret>(?:[^-]|-(?!----)){32,}+(?=-----END (?P=what)-----)"
            r"|(?:(?:\\[nr]|[\s\"'>|])*+[A-Za-z0-9+/=]{40,}+)++)"  # cut off before its end
        ),
        lambda match: re.search(r"[A-Za-z0-9+/]{40}", match["secret"]) is not None,
    ),
    _token("AWS access key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", "akia", "asia", "abia", "acca"),
    _Form(
        "AWS secret key", ("aws", "secretaccesskey", "secret_access_key"),
        re.compile(r"(?i)(?:aws.{0,20}|secret_?access_?key)[\"']?\s{0,3}(?:=|:|=>)\s{0,3}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
        lambda match: _is_random(match) and not re.fullmatch(r"[0-9a-f]{40}", match["secret"]),
    ),
    _token("GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,251}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _token("GitHub token", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", "github_pat_"),
    _token("GitLab token", r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_\-]{20,64}", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-"),
    _token("Slack token", r"xox[abeoprs]-(?:\d-)?[A-Za-z0-9\-]{10,250}", "xox"),
    _token("Slack token", r"xapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{32,}", "xapp-"),
    _Form("Slack webhook", ("hooks.slack.com",), re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/]{30,})")),
    _Form("Discord webhook", ("/api/webhooks/",), re.compile(r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{15,21}/[A-Za-z0-9_\-]{60,80})")),
    _token("Google API key", r"AIza[A-Za-z0-9_\-]{35}", "aiza"),
    _token("Google OAuth token", r"ya29\.[A-Za-z0-9_\-]{30,}", "ya29."),
    _token("Google client secret", r"GOCSPX-[A-Za-z0-9_\-]{28}", "gocspx-"),
    _token("Stripe key", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,247}", "sk_live_", "sk_test_", "rk_live_", "rk_test_"),
    _token("Stripe webhook secret", r"whsec_[A-Za-z0-9+/=]{24,}", "whsec_"),
    _token("Anthropic key", r"sk-ant-[A-Za-z0-9_\-]{24,}", "sk-ant-"),
    _token("OpenAI key", r"sk-(?!ant-)(?:proj-|svcacct-|admin-)?(?=[A-Za-z0-9_\-]*\d)(?=[A-Za-z0-9_\-]*[A-Z])[A-Za-z0-9_\-]{32,}", "sk-"),
    _token("Hugging Face token", r"hf_[A-Za-z]{34}|hf_[A-Za-z0-9]{34,40}", "hf_"),
    _token("npm token", r"npm_[A-Za-z0-9]{36}", "npm_"),
    _token("PyPI token", r"pypi-AgE[A-Za-z0-9_\-]{50,}", "pypi-age"),
    _token("DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}", "dop_v1_", "doo_v1_", "dor_v1_"),
    _token("SendGrid key", r"SG\.[A-Za-z0-9_\-]{20,24}\.[A-Za-z0-9_\-]{39,50}", "sg."),
    _token("Mailgun key", r"key-[0-9a-f]{32}", "key-"),
    _token("Twilio key", r"(?:SK|AC)(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{32}", "sk", "ac"),
    _token("Telegram bot token", r"\d{8,10}:AA[A-Za-z0-9_\-]{33}", ":aa"),
    _token("Vault token", r"hv[sbr]\.[A-Za-z0-9_\-]{24,}", "hvs.", "hvb.", "hvr."),
    _token("Databricks token", r"dapi[0-9a-f]{32}(?:-\d)?", "dapi"),
    _token("Shopify token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", "shpat_", "shpca_", "shppa_", "shpss_"),
    _token("Atlassian token", r"ATATT3[A-Za-z0-9_\-=]{60,}", "atatt3"),
    _token("Linear key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", "lin_api_", "lin_oauth_"),
    _token("Doppler token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._\-]{40,}", "dp."),
    _token("Grafana token", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}", "glsa_", "glc_"),
    _token("New Relic key", r"NRAK-[A-Z0-9]{27}", "nrak-"),
    _token("age secret key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "age-secret-key-1"),
    _token("Memory Desk token", r"mdk_[A-Za-z0-9_\-]{20,}", "mdk_"),
    _token("JSON web token", r"ey[JI][A-Za-z0-9_\-]{10,}\.ey[JI][A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{16,}", "eyj", "eyi"),
    _Form("Azure account key", ("accountkey=",), re.compile(r"(?i)AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)")),
    _Form("Azure SAS signature", ("sig=",), re.compile(r"[?&]sig=(?P<secret>[A-Za-z0-9%+/]{43,}(?:%3D|=)?)(?=[&\s\"'#]|$)")),
    _Form(
        "password in an address", ("://",),
        re.compile(r"(?i)\b[a-z][a-z0-9+.\-]{1,20}://(?P<user>[^\s:@/\"'<>]{0,64}):(?P<secret>[^\s@/\"'<>{}$*]{4,128})@[\w.\-\[]"),
        _is_password,
    ),
    _Form(
        "authorization header", ("bearer", "basic", "authorization"),
        re.compile(r"(?i)\b(?:authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:(?:bearer|basic|token)\s+)?|bearer\s+)(?P<secret>[A-Za-z0-9+/._~\-]{20,}={0,2})"),
        _is_random,
    ),
    _Form(
        "password", ("pass", "pwd", "secret", "key", "token"),
        re.compile(rf"{_NAME}\\{{0,3}}[\"'`]?\s{{0,3}}(?:=>|:=|==?|:|%3[aAdD])\s{{0,3}}\\{{0,3}}[\"'`]?(?P<secret>{_VALUE})"),
        _is_random,
    ),
)  # fmt: skip


def secrets_in(text: str) -> Iterator[Secret]:
    """Every secret, in order, none overlapping another: of two the more precise form names it."""
    lower = text.lower()
    found: list[Secret] = []
    taken = bytearray(len(text))
    for form in FORMS:
        if not any(hint in lower for hint in form.hints):
            continue
        for match in form.pattern.finditer(text):
            start, end = match.span("secret")
            if form.is_secret(match) and taken.find(1, start, end) < 0:
                found.append(Secret(form.kind, start, end))
                taken[start:end] = bytes([1]) * (end - start)
    return iter(sorted(found, key=lambda secret: secret.start))


def redact(text: str) -> tuple[str, list[str]]:
    """The text without its secrets, and their kinds in order."""
    kinds: list[str] = []
    for _ in range(PASSES):
        parts, at = [], 0
        for secret in secrets_in(text):
            parts += [text[at : secret.start], MARK.format(secret.kind)]
            kinds.append(secret.kind)
            at = secret.end
        if not parts:
            break
        text = "".join([*parts, text[at:]])
    return text, kinds


def redact_json(value: Any) -> tuple[Any, list[str]]:
    """The same of every string in a JSON value; a string under a key that names a secret is looked at with its key."""
    if isinstance(value, str):
        return redact(value)
    kinds: list[str] = []
    if isinstance(value, dict):
        clean = {}
        for key, inner in value.items():
            clean_key, found = redact(key)
            kinds += found
            while clean_key in clean:  # two secret keys: neither value is lost
                clean_key += "+"
            clean[clean_key], found = _under(_name_beside(key, value), inner)
            kinds += found
        return clean, kinds
    if isinstance(value, list):
        items = [redact_json(inner) for inner in value]
        return [item for item, _found in items], [kind for _item, found in items for kind in found]
    return value, kinds


def is_unlike_words(text: str) -> bool:
    """Whether a secret is so odd that it is no part of other words: it may be taken out wherever it stands. A password in
    an address may be `orders`."""
    match = _WHOLE.fullmatch(text)
    return len(text) >= LONGER_THAN_WORDS or bool(match and _is_random(match)) or any(secrets_in(text))


def secrets_of(value: Any) -> Iterator[tuple[str, str]]:
    """(kind, the secret itself) of all that `redact_json` would take out of a value."""
    if isinstance(value, str):
        yield from ((found.kind, value[found.start : found.end]) for found in secrets_in(value))
    elif isinstance(value, list):
        for inner in value:
            yield from secrets_of(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from secrets_of(key)
            found = list(secrets_of(inner))
            yield from found or _named_secrets(_name_beside(key, value), inner)


def _named_secrets(name: str, value: Any) -> Iterator[tuple[str, str]]:
    for inner in value if isinstance(value, list) else [value]:
        if isinstance(inner, str) and _under(name, inner)[1]:
            yield "password", inner


def _name_beside(key: str, pairs: dict[str, Any]) -> str:
    """`{"name": "DB_PASSWORD", "value": "…"}`: what names the value is its neighbour."""
    names = (pairs.get(name) for name in ("name", "key", "Name", "Key")) if key.lower() == "value" else ()
    return next((name for name in names if isinstance(name, str)), key)


def _under(key: str, value: Any) -> tuple[Any, list[str]]:
    """`{"password": "…"}`: the name is beside the value, or the list of values, not in it."""
    clean, kinds = redact_json(value)
    if kinds or not _NAMED.search(key):
        return clean, kinds
    if isinstance(value, list):
        told = [_under(key, inner) for inner in value if not isinstance(inner, list | dict)]
        if len(told) < len(value):
            return clean, kinds
        return [inner for inner, _found in told], [kind for _inner, found in told for kind in found]
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    return (MARK.format("password"), ["password"]) if match and _is_random(match) else (clean, [])

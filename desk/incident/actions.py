"""What a person pastes is kept under an address of its own, without the secrets in it."""

from __future__ import annotations

import hashlib
import json
import secrets

from django.utils import timezone

from desk.incident.alerts import value_of
from desk.incident.models import Alert
from projects.models import Project, User
from records.hygiene.secrets import redact, redact_json

KEY_BYTES = 8
# Of one project; beyond, the oldest go: a text may be a megabyte.
MOST_KEPT, GONE_AT_ONCE = 1_000, 100


def keep_alert(*, project: Project, text: str, agent: str, user: User | None) -> Alert:
    """The alert as it is kept. Pasted again, by whomever, it has the same address and is kept from now on."""
    text, kinds = without_secrets(text)
    digest = hashlib.sha256(f"{agent}\0{text}".encode()).hexdigest()
    now = timezone.now()
    alert, made = Alert.objects.get_or_create(
        project=project,
        digest=digest,
        defaults={
            "key": secrets.token_hex(KEY_BYTES), "text": text, "agent": agent, "secrets": kinds,
            "asked_by": user, "asked_at": now,
        },
    )  # fmt: skip
    if made:
        _make_room(project)
    else:
        Alert.objects.filter(pk=alert.pk).update(asked_at=now)
    return alert


def without_secrets(text: str) -> tuple[str, list[str]]:
    """As it was written, but for its secrets; JSON in which only a name beside a value tells one is written anew."""
    clean, kinds = redact(text)
    value = value_of(clean)
    if value is not None:
        told, found = redact_json(value)
        if found:
            return json.dumps(told, ensure_ascii=False, indent=1), sorted({*kinds, *found})
    return clean, sorted(set(kinds))


def _make_room(project: Project) -> None:
    rows = Alert.objects.filter(project=project)
    surplus = rows.order_by("-asked_at", "-pk").values_list("pk", flat=True)
    keys = list(surplus[MOST_KEPT : MOST_KEPT + GONE_AT_ONCE])
    if keys:
        rows.filter(pk__in=keys).delete()

"""Pasted alerts go after KEEP_ALERTS_DAYS."""

from desk.incident.models import Alert
from records.retention import Policy, add_policy, delete_oldest

add_policy(
    Policy(
        "alerts",
        "KEEP_ALERTS_DAYS",
        lambda before, limit: delete_oldest(Alert.objects.all(), "asked_at", before, limit),
    )
)

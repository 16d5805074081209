"""What is kept for a while only."""

from datetime import timedelta

from django.utils import timezone

from records.models import IdempotencyKey

IDEMPOTENCY_KEYS_KEPT = timedelta(days=7)


def forget_old_keys() -> int:
    """Drop idempotency keys whose answer nobody waits for any more. Returns how many."""
    return IdempotencyKey.objects.filter(created_at__lt=timezone.now() - IDEMPOTENCY_KEYS_KEPT).delete()[0]

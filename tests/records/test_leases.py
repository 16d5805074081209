"""A lease has one holder at a time and passes on when it is given back or runs out."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from records import leases
from records.leases import Lease, LeaseBusy

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_one_holder_at_a_time():
    assert leases.take("sweep", "one", 60)
    assert not leases.take("sweep", "two", 60)
    assert leases.take("sweep", "one", 60)
    assert leases.is_held("sweep", "one")
    assert not leases.is_held("sweep", "two")


def test_it_passes_on_when_given_back_or_run_out():
    leases.take("sweep", "one", 60)
    leases.give_back("sweep", "two")
    assert leases.is_held("sweep", "one")
    leases.give_back("sweep", "one", {"taken_in": 3})
    assert leases.take("sweep", "two", 60)
    assert Lease.objects.get().state == {"taken_in": 3}
    Lease.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert leases.take("sweep", "three", 60)
    assert not leases.is_held("sweep", "two")


def test_asking_for_a_busy_lease_writes_nothing():
    leases.take("sweep", "one", 60)
    with CaptureQueriesContext(connection) as queries:
        leases.take("sweep", "two", 60)
        leases.take_for_a_while("sweep", "one", 60)
    assert [query["sql"].split()[0] for query in queries] == ["SELECT", "SELECT"]


def test_the_block_ends_the_lease_whatever_happens():
    with pytest.raises(ZeroDivisionError), leases.held("lists", seconds=60, wait=0.1):
        _ = 1 / 0
    with (
        leases.held("lists", seconds=60, wait=0.1),
        pytest.raises(LeaseBusy),
        leases.held("lists", seconds=60, wait=0.1),
    ):
        pass

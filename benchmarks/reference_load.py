"""Makes the reference load, and fills the graph from it, each timed."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.utils import OperationalError

from projects.models import Project
from records.models import Read

VECTORS = Path(os.environ.get("REFERENCE_VECTORS", "/tmp/memory-desk-reference-vectors.npz"))
UNKNOWN_DATABASE = 1049


def fill_if_empty(scale: float) -> None:
    create_database()
    call_command("migrate", verbosity=0)
    if Project.objects.exists():
        if not Read.objects.exists():  # they come last
            sys.exit("The load in this database was never finished: drop the database and start again.")
        print("The load is there already.", flush=True)
        return
    began = time.monotonic()
    # The curve is about size: only the reference load itself takes the encoder's time.
    real = {} if scale == 1 else {"encoded": 0}
    call_command("generate_memory", scale=scale, vectors=VECTORS, **real)
    print(f"The load was made in {time.monotonic() - began:.0f} s.", flush=True)


def create_database() -> None:
    """The account may make databases of our names only; Django itself makes none."""
    name = settings.DATABASES["default"]["NAME"]
    try:
        connection.ensure_connection()
    except OperationalError as error:
        if error.args[0] != UNKNOWN_DATABASE:
            raise
        settings.DATABASES["default"]["NAME"] = ""
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {connection.ops.quote_name(str(name))}")
        connection.close()
        settings.DATABASES["default"]["NAME"] = name


def rebuild() -> None:
    """From an empty graph; its last lines say how many records a second."""
    began = time.monotonic()
    call_command("rebuild_graph")
    print(f"The graph was rebuilt in {time.monotonic() - began:.0f} s.", flush=True)

"""`manage.py run_worker`: keeps embeddings, similarities and the graph up to date, and sweeps plain-SQL writes."""

from __future__ import annotations

import os
import signal
import time
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from database.schema import OtherSchema, await_schema
from graph.worker import NICENESS, Worker
from recall.vectors import configured_encoder

POLL_SECONDS = 0.25


class Command(BaseCommand):
    help = "Keep embeddings, similarities and the graph up to date. Run one or several; SIGTERM ends it gracefully."

    def handle(self, *args: Any, **options: Any) -> None:
        configured_encoder()  # a wrong ENCODER is said now, not at the first record
        try:
            await_schema(self.stderr.write, seconds=float("inf"))
        except OtherSchema as error:
            raise CommandError(str(error)) from error
        os.nice(NICENESS)
        worker = Worker()

        def stop(number: int, frame: FrameType | None) -> None:
            worker.stop()

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        self.stdout.write(f"Worker {worker.holder} is at work.")
        self.stdout.flush()
        worker.run(time.sleep, POLL_SECONDS)
        self.stdout.write("Ended; nothing is left half done.")

"""What a serving process tells the cyclic collector. In a process of its own: it holds for the whole process."""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SERVED = """
import gc, runpy
configuration = runpy.run_path("deploy/gunicorn.conf.py")
from unittest import mock
configuration["post_worker_init"].__globals__["connection"] = mock.Mock(vendor="mysql")
configuration["post_worker_init"](None)
print(gc.get_threshold()[0], gc.get_freeze_count())
"""


def test_a_serving_process_walks_what_it_loaded_no_more():
    answer = subprocess.run(
        [sys.executable, "-c", SERVED], cwd=TOP, capture_output=True, text=True, check=True
    )
    threshold, frozen = map(int, answer.stdout.split())
    assert threshold == 50_000
    assert frozen > 10_000

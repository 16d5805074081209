"""Python's cyclic collector, told that what a process has loaded is there to stay.

A page makes tens of thousands of objects and frees nearly all of them by their reference counts. With the default
thresholds the collector still walks every loaded module again and again: 10 to 25 % of a page's processor time
(benchmarks/pages.py measures with it, as the servers run).
"""

from __future__ import annotations

import gc

THRESHOLDS = 50_000, 20, 100


def settle() -> None:
    """Call it once, when everything is loaded and before the first request."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)

"""Named places of the worker where a fault drill can end or hold its process; tests/faults is what uses them.

`MEMORY_DESK_FAILPOINT=after-claim:kill` ends the process there as `kill -9` does, `…:stop` holds it as SIGSTOP does, each
the first time that it comes by. Without the variable, as in production, `reach` compares two strings and returns.
"""

from __future__ import annotations

import os
import signal

AFTER_CLAIM = "after-claim"
EMBEDDING = "embedding"  # the records are read, the encoder is about to be asked
AFTER_EMBEDDING = "after-embedding"  # vectors and similarities are stored
IN_GRAPH_TRANSACTION = "in-graph-transaction"  # written, not committed
GRAPH_HALF_WRITTEN = "graph-half-written"  # the nodes are there, their relations are not
AFTER_GRAPH_WRITE = "after-graph-write"
BEFORE_ACK = "before-ack"  # within the transaction that stores the acknowledgement
NAMES = (
    AFTER_CLAIM,
    EMBEDDING,
    AFTER_EMBEDDING,
    IN_GRAPH_TRANSACTION,
    GRAPH_HALF_WRITTEN,
    AFTER_GRAPH_WRITE,
    BEFORE_ACK,
)
ACTIONS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}

_armed, _, _action = os.environ.get("MEMORY_DESK_FAILPOINT", "").partition(":")
if _armed and (_armed not in NAMES or _action not in ACTIONS):
    raise ValueError(
        f"MEMORY_DESK_FAILPOINT must be one of {', '.join(NAMES)}, then :{' or :'.join(ACTIONS)}."
    )


def reach(name: str) -> None:
    """The process has come to this place."""
    global _armed
    if name == _armed:
        _armed = ""  # once a process: whoever is continued goes on
        os.kill(os.getpid(), ACTIONS[_action])

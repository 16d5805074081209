"""Mutants: our code with one named thing left out, as a patch of its text that is applied while it is imported.

Only the processes of a drill see it. Each names what it breaks; test_mutants proves that its drill notices.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader

# module -> [(text as it is, text of the mutant)]
Patches = dict[str, list[tuple[str, str]]]

MUTANTS: dict[str, Patches] = {
    # --- The acknowledgement and the lease ---------------------------------------------------------------------
    "acknowledged-when-claimed": {
        "graph.claims": [("lease_token=token, lease_until=now + ", "next_try_at=None, lease_token=token, lease_until=now + ")]
    },
    "acknowledged-before-the-graph-write": {
        "graph.worker": [
            (
                "                failpoints.reach(failpoints.AFTER_EMBEDDING)\n",
                "                marks.acknowledge(self._token, [by_node[one.node_id] for one in shown])\n"
                "                failpoints.reach(failpoints.AFTER_EMBEDDING)\n",
            )
        ]
    },
    "acknowledged-when-nodes-are-written": {
        "graph.worker": [
            ("                self._projector.project(", "                self._projector.acknowledge = lambda: marks.acknowledge(self._token, done)\n                self._projector.project("),
        ],
        "graph.projector": [
            ("        failpoints.reach(failpoints.GRAPH_HALF_WRITTEN)\n", "        self.acknowledge()\n        failpoints.reach(failpoints.GRAPH_HALF_WRITTEN)\n"),
        ],
    },
    "relations-made-anew": {
        "graph.cypher_writes": [("MERGE (a)-[r:{types_of([relation])}]->(b)", "CREATE (a)-[r:{types_of([relation])}]->(b)")],
        "graph.projector": [("    return key in present and ", "    return False and ")],
    },
    "lease-not-checked": {
        "graph.claims": [
            ("pk__in=pks, lease_token=token, lease_until__gt=timezone.now())", "pk__in=pks)"),
        ]
    },
    "no-version-guard": {
        "graph.cypher_writes": [
            (
                "coalesce(n.version, -1) < row.version OR (n.version = row.version AND n.gone IS NULL) AS wanted",
                "true AS wanted",
            )
        ]
    },
    "claims-kept-at-the-end": {
        "graph.worker": [
            ("            self._give_back()\n            if self._elected_as:\n", "            if self._elected_as:\n"),
            ("        finally:\n            self._give_back()\n        if self._problem:", "        except Stopping:\n            raise\n        if self._problem:"),
        ]
    },
    "works-in-a-transaction": {
        "graph.worker": [
            ("        self._unfinished = {claim.pk: claim for claim in claims}\n", "        self._unfinished = {claim.pk: claim for claim in claims}\n        marks.lock_ours(self._token, claims)\n"),
            ("    def _work(self, claims: list[Claim]) -> int:\n", "    @__import__('django.db', fromlist=['transaction']).transaction.atomic\n    def _work(self, claims: list[Claim]) -> int:\n"),
        ]
    },
    # --- Poison ------------------------------------------------------------------------------------------------
    "attempts-never-counted": {
        "graph.claims": [(', attempts=F("attempts") + 1\n', "\n"), ("            mark.attempts + 1,\n", "            1,\n")]
    },
    "a-batch-fails-together": {
        "graph.worker": [
            ("            if len(left) > 1:\n", "            if len(left) > 1:\n                for one in left[1:]:\n                    marks.fail(self._token, one, error)\n                    self._unfinished.pop(one.pk)\n                left = left[:1]\n            if False:\n"),
        ]
    },
    # --- Calls and the database --------------------------------------------------------------------------------
    "key-outside-the-transaction": {
        "agent_api.idempotency": [("@transactional\ndef _first_or_replay(", "def _first_or_replay(")]
    },
    "keys-not-kept": {
        "agent_api.idempotency": [
            ("            kept = IdempotencyKey.objects.create(**names, request_digest=digest)", "            kept = IdempotencyKey(**names, request_digest=digest)"),
            ('    kept.save(update_fields=["status", "answer", "headers"])\n', ""),
        ]
    },
    "answered-before-the-commit": {
        "database.transactions": [
            (
                "                with transaction.atomic():\n                    return function(*args, **kwargs)\n            except OperationalError as error:\n",
                "                try:\n                    with transaction.atomic():\n                        kept = function(*args, **kwargs)\n"
                "                except OperationalError:\n                    if 'kept' not in locals():\n                        raise\n                return kept\n"
                "            except OperationalError as error:\n",
            )
        ]
    },
    "a-lost-connection-is-tried-again": {
        "database.transactions": [
            ("error.args[0] in (LOCK_WAIT, DEADLOCK)", "error.args[0] in (LOCK_WAIT, DEADLOCK, 2006, 2013)"),
        ]
    },
    "connections-never-checked": {
        "memory_site.settings": [("conn_max_age=60, conn_health_checks=True", "conn_max_age=600, conn_health_checks=False")]
    },
    "worker-ends-with-the-database": {
        "graph.worker": [
            ("                except (DatabaseAway, OperationalError, InterfaceError) as error:\n", "                except ZeroDivisionError as error:\n"),
            ("                    log.exception(\"The worker's round failed\")\n", "                    raise\n"),
        ],
    },
    # --- The graph away ----------------------------------------------------------------------------------------
    "no-breaker": {
        "graph.connection": [("        return self.away_since is not None and time.monotonic() < self._retry_at", "        return False")]
    },
    "no-deadline": {
        "graph.connection": [("        answer = within_time(work, seconds)\n", "        answer = work()\n")]
    },
    "the-graphs-absence-blamed-on-records": {
        "graph.worker": [("                self._finish(done, projected=False)\n                return\n", "                raise RuntimeError('the graph is away') from None\n")]
    },
}  # fmt: skip

PLANTS: dict[str, Patches] = {
    "poison": {
        "recall.encoders.onnx": [
            (
                "        tokenizer = minilm_tokenizer(MAX_TOKENS)\n",
                "        if any('POISON' in text for text in texts):\n            raise ValueError('POISON cannot be encoded')\n"
                "        tokenizer = minilm_tokenizer(MAX_TOKENS)\n",
            )
        ]
    },
    "killer": {
        "recall.encoders.onnx": [
            (
                "        tokenizer = minilm_tokenizer(MAX_TOKENS)\n",
                "        if any('POISON' in text for text in texts):\n            os.kill(os.getpid(), 9)\n"
                "        tokenizer = minilm_tokenizer(MAX_TOKENS)\n",
            )
        ]
    },
}


def patched(text: str, patches: list[tuple[str, str]]) -> str:
    """The mutant's text; ValueError where the code has changed so that a patch no longer fits once."""
    for old, new in patches:
        if text.count(old) != 1:
            raise ValueError(f"occurs {text.count(old)} times: {old}")
        text = text.replace(old, new)
    return text


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, patches: list[tuple[str, str]]) -> None:
        super().__init__(name, path)
        self._patches = patches

    def get_code(self, fullname: str):  # never from or into the cache
        path = self.get_filename(fullname)
        text = patched(self.get_data(path).decode(), self._patches)
        return self.source_to_code(text.encode(), path)


class _Finder(MetaPathFinder):
    def __init__(self, patches: Patches) -> None:
        self._patches = patches

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self._patches:
            return None
        spec = PathFinder.find_spec(fullname, path)
        spec.loader = _Loader(fullname, spec.origin, self._patches[fullname])
        return spec


def apply(mutant: str, plant: str) -> None:
    """From here on this process imports the mutant, and what is planted beside it."""
    patches: Patches = {}
    for some in (MUTANTS[mutant] if mutant else {}, PLANTS[plant] if plant else {}):
        for module, pairs in some.items():
            patches.setdefault(module, []).extend(pairs)
    if late := patches.keys() & sys.modules.keys():
        raise RuntimeError(f"{late} was imported before it could be patched")
    sys.meta_path.insert(0, _Finder(patches))

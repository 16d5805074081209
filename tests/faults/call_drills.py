"""Harm to calls: the connection to the database ends under them, and they are sent again."""

from __future__ import annotations

import itertools
import secrets
import threading

from tests.faults.calls import call
from tests.faults.drills import drain
from tests.faults.oracle import Report
from tests.faults.servers import until


class Visitor(threading.Thread):
    """Somebody who browses and calls; each failure is tried once more, at once."""

    def __init__(self, desk, agent, number, addresses):
        super().__init__(daemon=True)
        self._desk, self._agent, self._addresses, self._number = desk, agent, addresses, number
        self.done = self.failed = 0
        self.failed_twice = []
        self.unkind = set()  # failures that do not say: try again
        self.acknowledged = []
        self.stopping = False

    def run(self):
        turn = self._number
        while not self.stopping:
            turn += 1
            key = secrets.token_hex(16)
            ask = self._asking(turn, key)
            answer = ask()
            if not self._is_good(answer):
                self.failed += 1
                if answer.status != 503:
                    self.unkind.add(f"{answer.status} {answer.text[:60]}")
                answer = ask()
            if not self._is_good(answer):
                self.failed_twice.append(f"{answer.status} {answer.text[:60]}")
            elif turn % 4 == 0:
                self.acknowledged.append(("decision", key, answer.data["node_id"]))
            self.done += 1

    def _asking(self, turn, key):
        if turn % 4 == 0:
            body = {"title": key, "decision": "Cache order totals."}
            return lambda: self._agent.send("POST", "/decisions", body, Idempotency_Key=key)
        path, headers = self._addresses[turn % len(self._addresses)]
        return lambda: call(self._desk.port, "GET", path, headers=headers)

    @staticmethod
    def _is_good(answer):
        return 200 <= answer.status < 300


def connections_killed(desk, rounds, ordinary=None):
    """KILL of every database connection, again and again, under people who browse and agents who call.

    The web processes are held for that moment: a call's second try is not hit by what is left of the same blow.
    """
    report = Report(f"every database connection killed {rounds} times")
    agent = desk.new_project()
    first = agent.decide("Cache order totals in Redis")
    addresses = [
        (f"/p/{agent.slug}/decisions/", agent.cookie),
        (f"/api/v1/decisions/{first}", agent.headers),
        (f"/p/{agent.slug}/", agent.cookie),
        (f"/p/{agent.slug}/decisions/{first.partition('_')[2]}/", agent.cookie),
        ("/api/v1/decisions?page_size=5", agent.headers),
    ]
    for path, headers in addresses:
        assert call(desk.port, "GET", path, headers=headers).status == 200, path
    visitors = [Visitor(desk, agent, number, addresses) for number in range(6)]
    for visitor in visitors:
        visitor.start()
    killed = 0
    for _ in range(rounds):
        with desk.web.held():
            killed += desk.mysql.kill_connections()
        # The next comes when all have gone on since: it cannot hit the second try of a call that the last one hit.
        enough = {visitor: visitor.done + 4 for visitor in visitors}
        until(lambda: all(visitor.done >= enough[visitor] for visitor in visitors), "all go on", 60)  # noqa: B023
    for visitor in visitors:
        visitor.stopping = True
    for visitor in visitors:
        visitor.join(60)
    report.notes.append(
        f"{sum(visitor.done for visitor in visitors)} calls, {killed} connections killed,"
        f" {sum(visitor.failed for visitor in visitors)} calls failed once,"
        f" {sum(len(visitor.failed_twice) for visitor in visitors)} twice"
    )
    for visitor in visitors:
        report.problems += [f"a call failed twice: {what}" for what in visitor.failed_twice]
        report.problems += [f"a call failed with {what}" for what in visitor.unkind]
    drain(desk, report)
    report.count_writes(desk.mysql, [one for visitor in visitors for one in visitor.acknowledged])
    if ordinary is not None and ordinary.popen.poll() is not None:
        report.problems.append("the worker ended")
    return report


def calls_cut(desk, proxy, *, outcomes=False):
    """The connection to MySQL ends at each statement of a write in turn, heard or not; then the same key again.

    And so without a key: whoever is told that it failed may find it done, but never done twice.
    """
    report = Report("a call's connection cut at each of its statements")
    agent = desk.new_project()
    decision = agent.decide("Cache order totals")
    acts = [("vote", f"/patterns/{agent.pattern}/worked", {}, "note")]
    if outcomes:
        acts += [
            ("outcome", f"/decisions/{decision}/outcomes", {"type": "success"}, "note"),
            ("decision", "/decisions", {"decision": "Cache order totals."}, "title"),
        ]
    acknowledged, failed, cuts = [], 0, 0
    ways = [(True, False), (True, True), (False, True)]
    for (what, path, body, named), (keyed, heard) in itertools.product(acts, ways):
        for statement in range(1, 200):
            key = secrets.token_hex(16)
            header = {"Idempotency_Key": key} if keyed else {}
            proxy.cut_at(statement, heard=heard)
            answer = agent.send("POST", path, body | {named: key}, **header)
            if not proxy.has_cut:  # the call has fewer statements than that
                proxy.cut_at(0, heard=False)
                if answer.status not in (200, 201) or statement < 10:
                    report.problems.append(
                        f"uncut at {statement}: answered {answer.status} {answer.text[:200]}"
                    )
                break
            cuts += 1
            place = f"{what}, {'with a' if keyed else 'without'} key, statement {statement}"
            if answer.status not in (200, 201):
                failed += 1
                if answer.status != 503:
                    report.problems.append(f"{place}: answered {answer.status} {answer.text[:200]}")
                if not keyed:
                    continue
                answer = agent.write("POST", path, body | {named: key}, key=key)
            if answer.text in ("", "None"):
                report.problems.append(f"{place}: the answer is empty")
            else:
                acknowledged.append((what, key, answer.data["node_id"]))
        else:
            raise AssertionError("a call of more than 200 statements")
    report.notes.append(f"{cuts} cuts, {failed} calls failed")
    report.count_writes(desk.mysql, acknowledged)
    return report

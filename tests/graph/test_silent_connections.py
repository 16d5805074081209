"""Connections that were open when the server fell silent: each holds a thread, and there are no more than of them."""

import selectors
import socket
import threading
import time
from contextlib import ExitStack, suppress

import pytest

from graph import connection
from graph.address import parse_graph_url
from graph.store import GraphAway

pytestmark = [pytest.mark.graph, pytest.mark.django_db, pytest.mark.usefixtures("clean_graph")]
OPEN = 3


class Relay:
    """Between the driver and Neo4j; when `silent` it takes in what comes and connections too, and says nothing."""

    def __init__(self, host, port):
        self.silent = threading.Event()
        self._far = host, port
        self._near = socket.create_server(("127.0.0.1", 0))
        self._held = [self._near]
        self._ears = selectors.DefaultSelector()
        self._ears.register(self._near, selectors.EVENT_READ)
        self.url = f"bolt://127.0.0.1:{self._near.getsockname()[1]}"
        threading.Thread(target=self._pass_on, daemon=True).start()

    def _pass_on(self):
        with suppress(OSError):  # hung up
            while True:
                for key, _events in self._ears.select():
                    if key.fileobj is self._near:
                        self._accept()
                    elif not (said := key.fileobj.recv(65536)):
                        self._ears.unregister(key.fileobj)
                    elif not self.silent.is_set():
                        key.data.sendall(said)

    def _accept(self):
        one, other = self._near.accept()[0], socket.create_connection(self._far)
        self._held += one, other
        self._ears.register(one, selectors.EVENT_READ, other)
        self._ears.register(other, selectors.EVENT_READ, one)

    def hang_up(self):
        for held in self._held:
            with suppress(OSError):  # one that has ended
                held.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def relay(settings, monkeypatch, graph_address):
    monkeypatch.setattr(connection, "POOL", OPEN)
    monkeypatch.setattr(connection, "READ_SECONDS", 0.5)
    monkeypatch.setattr(connection, "_idle", [])
    address = parse_graph_url(graph_address)
    host, _colon, port = address.uri.rpartition("/")[2].rpartition(":")
    relay = Relay(host, int(port))
    settings.GRAPH_URL = graph_address.replace(f"{host}:{port}", relay.url.rpartition("/")[2])
    connection.forget_connection()
    yield relay
    relay.hang_up()


def waiting(before):
    """Threads at work for the graph, without those that wait for some."""
    ours = [one for one in threading.enumerate() if one.name == "memory-desk-graph" and one not in before]
    return len(ours) - len(connection._idle)


def test_threads_that_wait_on_a_silent_server_are_no_more_than_its_connections(relay):
    before = threading.enumerate()
    with ExitStack() as stack:
        for _ in range(OPEN):
            session = stack.enter_context(connection.driver().session())
            stack.enter_context(session.begin_transaction()).run("RETURN 1").consume()
    relay.silent.set()
    most = 0
    for _ in range(3 * OPEN):
        connection.breaker._retry_at = 0.0  # the pause is over
        with pytest.raises(GraphAway):
            connection.guarded(lambda: connection.fetch("RETURN 1", {}), 0.1)
        most = max(most, waiting(before))
    until = time.monotonic() + 10
    while waiting(before) > OPEN and time.monotonic() < until:
        time.sleep(0.05)
    assert most > OPEN  # some wait for a connection
    assert waiting(before) == OPEN
    relay.hang_up()
    while waiting(before) and time.monotonic() < until + 10:
        time.sleep(0.05)
    assert waiting(before) == 0

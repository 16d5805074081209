"""A way to MySQL that can be cut at any word of a conversation, before the server hears it or after it has answered."""

from __future__ import annotations

import contextlib
import socket
import threading


class CuttingProxy:
    """Passes bytes on. Armed with a number it ends the connection at so many statements from then, once."""

    def __init__(self, port):
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._left = 0  # statements until the cut; 0: none is wanted
        self._heard = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_at(self, statement, *, heard):
        """`heard`: the server gets that statement and acts on it, only its answer never arrives."""
        with self._lock:
            self._left, self._heard = statement, heard

    @property
    def has_cut(self):
        return self._left == 0

    def close(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._converse, args=(client,), daemon=True).start()

    def _converse(self, client):
        """MySQL's protocol takes turns: whatever the client says after an answer is one statement."""
        with (
            contextlib.suppress(OSError),
            client,
            socket.create_connection(("127.0.0.1", self._server)) as server,
        ):
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            talk = {"answered": False, "silent": False}
            answers = threading.Thread(target=self._answers, args=(server, client, talk), daemon=True)
            answers.start()
            while said := client.recv(1 << 16):
                cut = talk["answered"] and self._is_the_one()
                talk["answered"] = False
                if cut and not self._heard:
                    break
                talk["silent"] = talk["silent"] or cut
                server.sendall(said)
            server.shutdown(socket.SHUT_RDWR)
            client.shutdown(socket.SHUT_RDWR)

    def _answers(self, server, client, talk):
        with contextlib.suppress(OSError):
            while said := server.recv(1 << 16):
                if talk["silent"]:
                    break
                talk["answered"] = True
                client.sendall(said)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)

    def _is_the_one(self):
        with self._lock:
            if not self._left:
                return False
            self._left -= 1
            return not self._left

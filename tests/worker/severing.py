"""A wire to PostgreSQL that can be cut at COMMIT: before the server hears of it, or after, so that nobody is told."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connections


@dataclass
class _Pair:
    """One client, the server it talks to, and whether the client still hears what the server says."""

    client: socket.socket
    server: socket.socket
    hears: bool = True

    def close(self) -> None:
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Wire:
    """Copies bytes between clients and a server; `cut_at` is "before" or "after" the next COMMIT, or empty."""

    def __init__(self, listener: socket.socket, target: dict[str, Any]) -> None:
        self.cut_at = ""
        self.cuts = 0
        self._listener = listener
        self._target = target

    def serve(self) -> None:
        with suppress(OSError):  # the listener was closed
            while True:
                pair = _Pair(self._listener.accept()[0], self._dial())
                for way in (self._up, self._down):
                    threading.Thread(target=way, args=(pair,), daemon=True).start()

    def _dial(self) -> socket.socket:
        host, port = self._target["HOST"], int(self._target["PORT"])
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _up(self, pair: _Pair) -> None:
        with suppress(OSError):
            while said := pair.client.recv(65536):
                if self.cut_at and b"COMMIT\x00" in said and not self._goes_on(pair):
                    break
                pair.server.sendall(said)
        if pair.hears:
            pair.close()

    def _goes_on(self, pair: _Pair) -> bool:
        how, self.cut_at = self.cut_at, ""
        self.cuts += 1
        pair.hears = how == "before"
        return how == "after"

    def _down(self, pair: _Pair) -> None:
        with suppress(OSError):
            while (said := pair.server.recv(65536)) and pair.hears:
                pair.client.sendall(said)
        pair.close()


@contextmanager
def wire(folder: Path) -> Iterator[Wire]:
    """Lead Django's connections of this process through a wire for the time of the block."""
    database = connections.settings["default"]
    target = {name: database[name] for name in ("HOST", "PORT")}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / ".s.PGSQL.5432"))
        listener.listen()
        made = Wire(listener, target)
        threading.Thread(target=made.serve, daemon=True).start()
        connections.close_all()
        database |= {"HOST": str(folder), "PORT": "5432"}
        try:
            yield made
        finally:
            connections.close_all()
            database |= target
            connections.close_all()

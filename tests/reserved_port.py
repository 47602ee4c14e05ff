"""A loopback port for a server that requires a port number."""

from __future__ import annotations

import socket
import sys


class ReservedPort:
    """A free port that the system assigns to no other process until `release`.

    It is bound but not listening. On Linux a server with SO_REUSEADDR can listen there, while other
    requests for any free port return another one.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind((host, 0))
        self.number: int = self._held.getsockname()[1]
        if sys.platform != "linux":  # there nobody else could listen
            self.release()

    def release(self) -> None:
        """Release the port."""
        self._held.close()

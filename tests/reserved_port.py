"""A port of loopback for a server that is to be told one."""

from __future__ import annotations

import socket
import sys


class ReservedPort:
    """A free port that nobody else is given until `release`.

    It is bound and not listened at. On Linux a server that reuses addresses, as servers do, can
    listen there all the same, while others who ask for any free port get another one.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind((host, 0))
        self.number: int = self._held.getsockname()[1]
        if sys.platform != "linux":  # there nobody else could listen
            self.release()

    def release(self) -> None:
        """Let anybody have it."""
        self._held.close()

"""Serve the site until an interrupt."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from fairjudge.annotation.web.app import create_app
from fairjudge.annotation.web.guard import Hosts
from fairjudge.annotation.web.site import Site
from fairjudge.errors import ConfigurationError


def serve(
    site: Site, *, host: str, port: int, hosts: Hosts, announce: Callable[[int], None]
) -> None:
    """Serve until an interrupt, and then finish the requests in progress.

    `announce` is called with the port once requests are accepted; with port 0 the operating system
    chooses one. Raises ConfigurationError if the address is in use, or is not this machine's.
    """
    listener = _bind(host, port)
    config = uvicorn.Config(
        create_app(site, hosts=hosts),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_keep_alive=60,  # people think between two items
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=16_384,
    )
    try:
        announce(listener.getsockname()[1])
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # uvicorn raises it once more when all is finished
    finally:
        listener.close()
        site.desk.close()


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(256)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise ConfigurationError(
            f"cannot serve at {host}:{port}: {error.strerror or error}; choose another with --port"
        ) from None
    return listener

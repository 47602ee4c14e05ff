"""Fixtures for faults: a home of one's own, and a server that answers any prompt of the library."""

from command_fixtures import cli, no_keys, own_home, server

__all__ = ["cli", "no_keys", "own_home", "server"]

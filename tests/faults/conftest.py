"""Fixtures for fault tests: a temporary home, and a server that answers any prompt."""

from command_fixtures import cli, no_keys, own_home, server

__all__ = ["cli", "no_keys", "own_home", "server"]

"""Fixtures for faults: a home of one's own, and a server that answers any prompt of the library."""

from command_fixtures import own_home, server

__all__ = ["own_home", "server"]

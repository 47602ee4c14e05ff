"""Fixtures for tests of pages: commands run in this process, without the caller's keys."""

from command_fixtures import cli, no_keys

__all__ = ["cli", "no_keys"]

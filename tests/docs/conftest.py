"""Fixtures for pages: commands run in this process."""

from command_fixtures import cli

__all__ = ["cli"]

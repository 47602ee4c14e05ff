"""Fixtures for tests of conversions, some of which run the command."""

from __future__ import annotations

from command_fixtures import cli, no_keys

__all__ = ["cli", "no_keys"]

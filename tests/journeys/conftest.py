"""Fixtures for journeys: a new user's commands from first to last."""

from __future__ import annotations

from command_fixtures import cli, cli_in, no_keys, own_home, server

__all__ = ["cli", "cli_in", "no_keys", "own_home", "server"]

from command_fixtures import cli, no_keys, own_home, server

__all__ = ["cli", "no_keys", "own_home", "server"]

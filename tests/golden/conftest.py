from command_fixtures import no_keys, own_home

__all__ = ["no_keys", "own_home"]

"""Fixtures for stores that several machines share."""

from store_fixtures import postgres, store_url

__all__ = ["postgres", "store_url"]

"""Caches of model replies, on disk and in PostgreSQL, as JSON only."""

"""Replies of models on disk and in PostgreSQL, as JSON alone."""

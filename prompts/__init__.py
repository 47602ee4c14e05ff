"""Prompt templates, versioned and locked by hash."""

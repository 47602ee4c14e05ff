"""Fixtures of the annotation tests."""

from browser import chromium, open_page  # noqa: F401

"""Judge summaries of many documents with LLMs, and know how far the judge can be trusted."""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]

"""Opening models: the chosen backend in its wrappers, and the embedding model when one is needed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from fairjudge.app.first_contact import FirstContactBackend
from fairjudge.backends import open_backend, parse_target
from fairjudge.backends.budgeting import BudgetingBackend
from fairjudge.backends.caching import CachingBackend
from fairjudge.backends.limiting import LimitingBackend
from fairjudge.backends.retrying import RetryingBackend
from fairjudge.cache import ReplyCache, default_cache_dir
from fairjudge.protocols import Backend, Embedder, ModelRef
from fairjudge.scorers.embedding import load_embedder

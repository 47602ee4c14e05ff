"""Malicious checkpoint values that would make a loader call `os.system`."""

from __future__ import annotations

import json
import os
import pickle

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
)

COMMAND = "touch pwned"
CALLS = {
    EXT_CONSTRUCTOR_SINGLE_ARG: ("os", "system", COMMAND),
    EXT_CONSTRUCTOR_POS_ARGS: ("os", "system", (COMMAND,)),
    EXT_CONSTRUCTOR_KW_ARGS: ("os", "system", {"command": COMMAND}),
}


def naming_code(kind: int) -> bytes:
    """Return msgpack that would make a loader call `os.system`."""
    return ormsgpack.packb({"ran": ormsgpack.Ext(kind, ormsgpack.packb(CALLS[kind]))})


class _Pickled:
    def __reduce__(self):
        return os.system, (COMMAND,)


CONSTRUCTED = {"lc": 2, "type": "constructor", "id": ["os", "system"], "args": [COMMAND]}
ATTACKS = {
    **{f"msgpack {kind}": ("msgpack", naming_code(kind)) for kind in CALLS},
    "json": ("json", json.dumps(CONSTRUCTED).encode()),
    "pickle": ("pickle", pickle.dumps(_Pickled())),
}
"""Types of stored values and such values."""

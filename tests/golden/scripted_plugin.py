"""A backend as another package would provide it: an entry point, and a reply to every prompt.

Replies are deterministic and independent of the fences around untrusted text.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

from cli_tools import journalist
from golden_homes import Completion, TokenAlternatives
from stub_server import Call

NAME = "golden"


def install(folder: Path) -> Path:
    """Write the metadata of an installed package; its folder must be on ``sys.path``."""
    about = folder / "golden_backend-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: golden-backend\nVersion: 1.0\n")
    points = f"[fairjudge.backends]\n{NAME} = scripted_plugin:ScriptedPlugin\n"
    (about / "entry_points.txt").write_text(points)
    return folder


class ScriptedPlugin:
    """A backend that replies with a verdict valid in the schema; the model ``silent`` has none."""

    def __init__(self, target, *, timeout_seconds, warn=None):
        self._silent = target.model == "silent"

    async def complete(self, request):
        messages = [{"content": message.content} for message in request.messages]
        call = Call(path="", headers={}, body={"messages": messages})
        text = "I cannot say." if self._silent else by_schema(request) or journalist(call)
        tokens = None
        if request.top_logprobs:
            tokens = tokens_of(text)
        return Completion(text=text, tokens=tokens)


def by_schema(request) -> str | None:
    """Return a verdict for each field of the schema, or None if it has none."""
    fields = dict((request.response_schema or {}).get("properties", {}))
    sample = int(
        hashlib.sha256(f"{sorted(fields)} {request.sample_index}".encode()).hexdigest(), 16
    )
    if "verdict" in fields:
        return json.dumps(_verdict(fields["verdict"], sample))
    stated = {
        name: _verdict(field["properties"]["verdict"], sample)
        for name, field in fields.items()
        if "verdict" in field.get("properties", {})
    }
    return json.dumps(stated) if stated else None


def _verdict(field, place: int) -> dict[str, str]:
    answers = [answer for answer in field["enum"] if answer is not None]
    return {"reasoning": "So it is.", "verdict": answers[place % len(answers)]}


def tokens_of(reply: str) -> tuple[TokenAlternatives, ...]:
    """Return the reply as three tokens; the second is the verdict, but another one is likelier."""
    verdict = json.loads(reply)["verdict"]
    before, _, after = reply.rpartition(verdict)
    shares = {verdict: 0.6, "1": 0.3} if verdict != "1" else {verdict: 0.9}
    logprobs = {answer: math.log(share) for answer, share in shares.items()}
    return (
        TokenAlternatives(token=before, logprobs={before: 0.0}),
        TokenAlternatives(token=verdict, logprobs=logprobs),
        TokenAlternatives(token=after, logprobs={after: 0.0}),
    )

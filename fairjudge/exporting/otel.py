"""OpenTelemetry events ``gen_ai.evaluation.result``, as OTLP's JSON lines.

Each line is an ``ExportLogsServiceRequest``, which the Collector's ``otlpjsonfile`` receiver reads.
Source: open-telemetry/semantic-conventions, ``docs/gen-ai/gen-ai-events.md``, and
open-telemetry/opentelemetry-proto, ``docs/specification.md`` (JSON Protobuf encoding).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fairjudge import __version__
from fairjudge.datasets.writers import json_line
from fairjudge.domain import Judgement
from fairjudge.exporting.targets import ExportResult, Request, extra_text

EVENT = "gen_ai.evaluation.result"
_INFO, _ERROR = 9, 17
"""Severity numbers of OpenTelemetry's logs."""
_FAIRJUDGE_FIELDS = (
    "eid", "system", "system_a", "system_b", "order", "protocol", "unit", "judge", "repeat",
    "scored_by", "signature",
)  # fmt: skip
_IDS = {"traceId": ("trace_id", 32), "spanId": ("span_id", 16)}
"""Field of a log record to the field of a judgement and its number of hexadecimal digits."""


def write(request: Request) -> tuple[Iterator[bytes], ExportResult]:
    """Return one event per judgement; an unscored judgement has ``error.type``."""
    rows, observed = request.judgements, request.observed_unix_nano
    lines = (json_line(_request(judgement, observed)) for judgement in rows)
    return lines, ExportResult(n_rows=len(rows))


def _request(judgement: Judgement, observed_unix_nano: int) -> dict[str, Any]:
    scope = {"name": "fairjudge", "version": __version__}
    resource = {"attributes": [_attribute("service.name", "fairjudge")]}
    logs = {"scope": scope, "logRecords": [_event(judgement, observed_unix_nano)]}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [logs]}]}


def _event(judgement: Judgement, observed_unix_nano: int) -> dict[str, Any]:
    return {
        "observedTimeUnixNano": str(
            observed_unix_nano
        ),  # 64-bit integers are strings in OTLP's JSON
        "severityNumber": _INFO if judgement.unscored is None else _ERROR,
        "eventName": EVENT,
        "attributes": [_attribute(name, value) for name, value in attributes(judgement).items()],
        **_ids(judgement),
    }


def attributes(judgement: Judgement) -> dict[str, str | float | int]:
    """Return the event's attributes: the conventions', and FairJudge's under ``fairjudge.``."""
    value = judgement.value
    attributes = {
        "gen_ai.evaluation.name": judgement.aspect,
        "gen_ai.evaluation.score.value": float(value) if isinstance(value, int | float) else None,
        "gen_ai.evaluation.score.label": value if isinstance(value, str) else None,
        "gen_ai.evaluation.explanation": judgement.raw,
        "gen_ai.response.id": extra_text(judgement, "response_id"),
        "error.type": judgement.unscored,
        **{f"fairjudge.{name}": getattr(judgement, name) for name in _FAIRJUDGE_FIELDS},
    }
    return {name: value for name, value in attributes.items() if value is not None}


def _attribute(name: str, value: str | float) -> dict[str, Any]:
    if isinstance(value, str):
        return {"key": name, "value": {"stringValue": value}}
    if isinstance(value, int):
        return {"key": name, "value": {"intValue": str(value)}}
    return {"key": name, "value": {"doubleValue": value}}


def _ids(judgement: Judgement) -> dict[str, str]:
    """Return the ids of the judged trace and span, if the judgement has valid ones."""
    attributes = {}
    for name, (field, n_digits) in _IDS.items():
        value = extra_text(judgement, field) or ""
        if re.fullmatch(f"[0-9a-fA-F]{{{n_digits}}}", value) and int(value, 16):
            attributes[name] = value.lower()
    return attributes

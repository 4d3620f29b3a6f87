"""An example of each problem: recorded in a test run, or constructed if no run causes the problem.

`examples.json` has the recorded ones (`make openapi`). `FACTS` has the additional members of the constructed ones.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from api.problems.types import PROBLEM_TYPES

INSTANCE: Final = "urn:uuid:6f1c2a52-6b53-4c1c-9f0e-3f1f9a0f7d11"
_HEAD: Final = "0f4c5b1e8a7d9c3b2e6f1a0d4c8b7e5f9a3d2c1b0e4f8a7d6c5b9e3f2a1d0c4b"
_DECISION: Final = {
    "id": "1:41",
    "seat": 1,
    "step": "bid",
    "opens_at": 1_767_225_600_000,
    "deadline": 1_767_225_660_000,
    "on_timeout": {"type": "pass"},
}
_NEWEST: Final = {"version": 41, "head": _HEAD}

RECORDED: Final = Path(__file__).with_name("examples.json")
_RECORDED: Final[Mapping[str, Mapping[str, Any]]] = msgspec.json.decode(RECORDED.read_bytes())

FACTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "match-corrupt": {"version": 17},
    "ratings-corrupt": {"version": 17},
    "not-ready": {"faults": ["the log is not available: unavailable"]},
    "too-early": {
        "clause": "FOU-4",
        "received_at": 1_767_225_596_400,
        "opens_at": 1_767_225_600_000,
        "retry_after": 4,
        **_NEWEST,
        "decisions": [_DECISION],
    },
    "too-late": {"received_at": 1_767_225_660_004, **_NEWEST, "decisions": [_DECISION]},
}


def example(code: str) -> dict[str, Any]:
    """An example of a problem document with this code."""
    if code in _RECORDED:
        return dict(_RECORDED[code])
    kind = PROBLEM_TYPES[code]
    return {
        **msgspec.to_builtins(FACTS.get(code, {})),
        "type": f"/problems/{code}",
        "title": kind.title,
        "status": kind.status,
        "detail": kind.cause,
        "code": code,
        "instance": INSTANCE,
        "retryable": kind.retry_after is not None,
    }

"""The limits of a call of a bot, and what its answer says."""

from collections.abc import Mapping
from typing import Any, Final

from service.repository.outgoing import Answered, Failure, Sent
from service.repository.strict_json import BadJSON, loads

LONGEST_CALL_MS: Final = 10_000
"""How long a call may take at most, whatever the match's clock is."""
MAX_ANSWER_BYTES: Final = 16 * 1024
MAX_SENDS: Final = 2
"""How often a process sends a call at most, if the first time failed in a way that may pass."""
NO_ANSWER: Final[Mapping[Failure, str]] = {
    "address-forbidden": "its host does not resolve, or to an address that is not public",
    "unreachable": "no connection, or it broke before the answer was complete",
    "timeout": "its answer was not complete in time",
    "tls": "it has no valid certificate for the host of its URL",
    "too-large": f"its answer has more than {MAX_ANSWER_BYTES} bytes",
    "malformed": "what it answers is not HTTP",
}
"""Why a bot gave no answer, in words for its author."""
LANGUAGE: Final = "en"
"""The language of the texts of a task in a call."""


def action_of(body: bytes) -> Mapping[str, Any] | None:
    """The action in the body of an answer, which is `{"action": {…}}` in strict JSON; None if it has another form."""
    try:
        found = loads(body)
    except BadJSON:
        return None
    if not isinstance(found, dict) or found.keys() != {"action"}:
        return None
    action = found["action"]
    return action if isinstance(action, dict) else None


def may_pass(result: Sent) -> bool:
    """Whether a call failed in a way that may pass, so that it is worth another attempt while there is time."""
    return result.status >= 500 if isinstance(result, Answered) else result.code in {"unreachable", "malformed"}

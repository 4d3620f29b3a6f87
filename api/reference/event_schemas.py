"""JSON Schemas of events as viewers see them: one component for each event type, with the schema of its `data`.

`service.match.redaction.SeenEvent` has its `data` as encoded JSON, so its schema cannot be generated from the struct.
"""

from collections.abc import Mapping
from typing import Any, Final

from api.requests import components
from api.requests.components import Schema, ref
from service.match.events import (
    AbortAsked,
    ClockExtended,
    MatchAborted,
    MatchCreated,
    MatchResumed,
    MatchSuspended,
    Resigned,
    SeatFreed,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeedRevealed,
)
from service.match.redaction import SeenEvent
from service.views.catalogue import Outcome

_EFFECTS: Final[Schema] = {"type": "array", "items": ref("Effect")}
_TEXT: Final[Schema] = {"type": "string"}
_ACTED: Final = {"seat": {"type": "integer"}, "action": ref("ActionSeen"), "effects": _EFFECTS}


def _of_rules(required: Mapping[str, Schema]) -> Schema:
    """The schema of data with a game's own types. Draws are only in match files: effects have their public part."""
    return {"type": "object", "properties": dict(required), "required": list(required)}


_SPOKEN: Final[Mapping[str, Schema]] = {
    "match_started": _of_rules({"effects": _EFFECTS}),
    "action": _of_rules(_ACTED),
    "default_action": _of_rules(_ACTED | {"reason": _TEXT}),
    "timer": _of_rules({"label": _TEXT, "effects": _EFFECTS}),
    "match_scored": _of_rules({"outcome": ref("Outcome")}),
}
_PLAIN: Final[Mapping[str, Any]] = {
    "match_created": MatchCreated,
    "seat_taken": SeatTaken,
    "seat_left": SeatLeft,
    "seat_freed": SeatFreed,
    "seat_handed_over": SeatHandedOver,
    "resigned": Resigned,
    "abort_asked": AbortAsked,
    "clock_extended": ClockExtended,
    "match_suspended": MatchSuspended,
    "match_resumed": MatchResumed,
    "match_aborted": MatchAborted,
    "seed_revealed": SeedRevealed,
}


def of_events() -> dict[str, Schema]:
    """The component `SeenEvent`, a union of all event types, and its members."""
    found = components.of_answers([SeenEvent, Outcome, *dict.fromkeys(_PLAIN.values())])
    envelope = found.pop("SeenEvent")
    data = {**{name: ref(cls.__name__) for name, cls in _PLAIN.items()}, **_SPOKEN}
    names = {name: f"{components.pascal(name)}Event" for name in data}
    for name, schema in data.items():
        properties = envelope["properties"] | {"type": {"type": "string", "enum": [name]}, "data": schema}
        found[names[name]] = {"type": "object", "properties": properties, "required": envelope["required"]}
    return found | {"SeenEvent": components.union("type", names) | {"description": envelope["description"]}}

"""Golden playthroughs: whole matches from fixed seeds. A diff shows a reviewer what changed for each viewer.

Each line is a JSON object. An event line has the actor, all effects, and under `seen` the parts that are redacted, by
their path and by the viewers who get this redaction. A digest line has a digest of each viewer's observation and decisions.
Every hundredth version and the last one have the spectator's view in full instead, and for each seat the parts that
differ from it.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from events.record import Event
from service.games.bots import bots_of
from service.games.protocol import Bot, Rng, Task
from service.games.registry import GAMES
from service.games.visibility import Viewer
from service.match.events import MatchClock
from service.match.fold import begin, step
from service.match.model import Match
from service.match.redaction import legal_actions, see_decisions, see_event
from service.match.rulings import parse_action
from service.ops.simulate import play
from service.repository.ports import Ports

FOLDER: Final = Path(__file__).parent
FULL_EVERY: Final = 100


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A playthrough. `why` tells a reviewer what to look for. A slower bot pace makes a timed match shorter.

    `wishes` are actions that the bots would not choose by themselves: every bot plays the first of them that is legal.
    """

    name: str
    why: str
    bots: tuple[str, ...]
    seed: str
    options: dict[str, Any] = {}
    bot_pace_ms: int | UnsetType = UNSET
    wishes: tuple[dict[str, Any], ...] | UnsetType = UNSET


def cases(game: str) -> list[Case]:
    return msgspec.json.decode((FOLDER / game / "cases.json").read_bytes(), type=list[Case])


def path(game: str, case: Case) -> Path:
    return FOLDER / game / f"{case.name}.jsonl"


def played(game: str, case: Case) -> tuple[Ports, Match]:
    """The match of a playthrough, and the ports that store it."""
    rules = GAMES[game]
    if case.wishes is not UNSET:
        wishes = [parse_action(rules, wish) for wish in case.wishes]
        rules = replace(rules, bots={name: _with_wishes(bot, wishes) for name, bot in bots_of(rules).items()})
    clock = None if case.bot_pace_ms is UNSET else MatchClock(bot_pace_ms=case.bot_pace_ms)
    return play(rules, case.bots, case.options, bytes.fromhex(case.seed), clock)


def _with_wishes(bot: Bot[Any, Any], wishes: Sequence[Any]) -> Bot[Any, Any]:
    def choose(task: Task[Any, Any], rng: Rng) -> Any:
        return next((wish for wish in wishes if wish in task.legal_actions), None) or bot(task, rng)

    return choose


def record(game: str, case: Case, ports: Ports, match: Match) -> str:
    """The text of a playthrough, whose match is in these ports. It only changes if the rules change."""
    stored = ports.log.read(match.id).events
    lines = [{"game": game, "ruleset": match.created.ruleset, **msgspec.to_builtins(case)}]
    folded = begin(match.id, stored[0], GAMES)
    for entry in stored[1:]:
        folded = step(folded, entry)
        event = msgspec.json.decode(entry, type=Event)
        lines.append(_event_line(folded, event))
        if folded.state is not None:
            lines.append(_view_line(folded, last=folded.head.version == len(stored)))
    return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)


def _viewers(match: Match) -> dict[str, Viewer]:
    return {**{str(seat): seat for seat in range(len(match.seats))}, "spectator": None}


def _event_line(match: Match, event: Event) -> dict[str, Any]:
    data = msgspec.json.decode(event.data)
    if "server_seed" not in data:
        data.pop("draws", None)
    seen: dict[str, dict[str, Any]] = {}
    for name, viewer in _viewers(match).items():
        for location, part in _hidden(data, match, event, viewer).items():
            parts = seen.setdefault(location, {})
            names = next((names for names, known in parts.items() if known == part), "")
            parts.pop(names, None)
            parts[f"{names} {name}".lstrip()] = part
    return {"version": event.version, "type": event.type, "by": event.by, **data, "seen": seen}


def _hidden(data: dict[str, Any], match: Match, event: Event, viewer: Viewer) -> dict[str, Any]:
    """The redacted parts of an event, for a viewer."""
    seen = msgspec.json.decode(see_event(match, event, "", viewer).data)
    parts: dict[str, Any] = {}
    for field, value in seen.items():
        if field == "effects":
            pairs = zip(data["effects"], value, strict=True)
            parts.update((f"effects.{location}", part) for location, (whole, part) in enumerate(pairs) if whole != part)
        elif value != data.get(field):
            parts[field] = value
    return parts


def _view_line(match: Match, *, last: bool) -> dict[str, Any]:
    views = {}
    for name, viewer in _viewers(match).items():
        decisions = see_decisions(match, viewer)
        views[name] = msgspec.to_builtins(
            {
                "observation": match.game.observation(match.state, viewer),
                "decisions": [(one.id, one.step, one.on_timeout is not msgspec.UNSET) for one in decisions],
                "legal_actions": len(legal_actions(match, viewer)),
            }
        )
    if last or match.head.version % FULL_EVERY == 0:
        spectator = views.pop("spectator")
        others = {name: dict(_differences(spectator, view, "")) for name, view in views.items()}
        return {"version": match.head.version, "sights": {"spectator": spectator, **others}}
    digests = {
        name: hashlib.sha256(json.dumps(view, sort_keys=True).encode()).hexdigest()[:8] for name, view in views.items()
    }
    return {"version": match.head.version, "digests": digests}


def _differences(whole: Any, other: Any, location: str) -> Iterator[tuple[str, Any]]:
    """The parts of `other` that differ from `whole`, by path."""
    if isinstance(whole, dict) and isinstance(other, dict) and whole.keys() == other.keys():
        for name, part in whole.items():
            yield from _differences(part, other[name], f"{location}.{name}")
    elif isinstance(whole, list | tuple) and isinstance(other, list | tuple) and len(whole) == len(other):
        for index, part in enumerate(whole):
            yield from _differences(part, other[index], f"{location}.{index}")
    elif whole != other:
        yield location.removeprefix("."), other

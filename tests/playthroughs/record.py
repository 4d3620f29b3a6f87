"""Golden playthroughs: whole matches from fixed seeds, written so that a reviewer sees every viewer's sight in a diff.

One JSON object a line. Per event: who did what, all effects, and under `seen` the parts that some viewers see otherwise,
by their place and by who sees them so. Then a digest of each viewer's observation and decisions; every
hundredth version and at the end what a spectator sees in full, and for each seat the places where it sees something else.
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
    """A playthrough: `why` is what a reviewer should look for; a slower pace makes a timed match shorter to read.

    For what no bot comes upon by itself: `wishes` are actions that every bot plays rather than its own choice, the first
    one that is legal.
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
    """The match of a playthrough, and the ports that hold it."""
    rules = GAMES[game]
    if case.wishes is not UNSET:
        wishes = [parse_action(rules, wish) for wish in case.wishes]
        rules = replace(rules, bots={name: _wishing(bot, wishes) for name, bot in bots_of(rules).items()})
    clock = None if case.bot_pace_ms is UNSET else MatchClock(bot_pace_ms=case.bot_pace_ms)
    return play(rules, case.bots, case.options, bytes.fromhex(case.seed), clock)


def _wishing(bot: Bot[Any, Any], wishes: Sequence[Any]) -> Bot[Any, Any]:
    def choose(task: Task[Any, Any], rng: Rng) -> Any:
        return next((wish for wish in wishes if wish in task.legal_actions), None) or bot(task, rng)

    return choose


def record(game: str, case: Case) -> str:
    """The playthrough's text, the same for ever under the same rules."""
    ports, match = played(game, case)
    stored = ports.log.read(match.id).events
    lines = [{"game": game, "ruleset": match.created.ruleset, **msgspec.to_builtins(case)}]
    folded = begin(match.id, stored[0], GAMES)
    for entry in stored[1:]:
        folded = step(folded, entry)
        event = msgspec.json.decode(entry, type=Event)
        lines.append(_told(folded, event))
        if folded.state is not None:
            lines.append(_sights(folded, last=folded.head.version == len(stored)))
    return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)


def _viewers(match: Match) -> dict[str, Viewer]:
    return {**{str(seat): seat for seat in range(len(match.seats))}, "spectator": None}


def _told(match: Match, event: Event) -> dict[str, Any]:
    data = msgspec.json.decode(event.data)
    if "server_seed" not in data:
        data.pop("draws", None)
    seen: dict[str, dict[str, Any]] = {}
    for name, viewer in _viewers(match).items():
        for place, part in _hidden(data, match, event, viewer).items():
            ways = seen.setdefault(place, {})
            names = next((names for names, way in ways.items() if way == part), "")
            ways.pop(names, None)
            ways[f"{names} {name}".lstrip()] = part
    return {"version": event.version, "type": event.type, "by": event.by, **data, "seen": seen}


def _hidden(data: dict[str, Any], match: Match, event: Event, viewer: Viewer) -> dict[str, Any]:
    """The parts that a viewer sees otherwise than they are."""
    seen = msgspec.json.decode(see_event(match, event, "", viewer).data)
    parts: dict[str, Any] = {}
    for field, value in seen.items():
        if field == "effects":
            pairs = zip(data["effects"], value, strict=True)
            parts.update((f"effects.{place}", part) for place, (whole, part) in enumerate(pairs) if whole != part)
        elif value != data.get(field):
            parts[field] = value
    return parts


def _sights(match: Match, *, last: bool) -> dict[str, Any]:
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
        others = {name: dict(_differing(spectator, view, "")) for name, view in views.items()}
        return {"version": match.head.version, "sights": {"spectator": spectator, **others}}
    digests = {
        name: hashlib.sha256(json.dumps(view, sort_keys=True).encode()).hexdigest()[:8] for name, view in views.items()
    }
    return {"version": match.head.version, "digests": digests}


def _differing(whole: Any, other: Any, place: str) -> Iterator[tuple[str, Any]]:
    """The parts of a value that are otherwise in another one, by their place."""
    if isinstance(whole, dict) and isinstance(other, dict) and whole.keys() == other.keys():
        for name, part in whole.items():
            yield from _differing(part, other[name], f"{place}.{name}")
    elif isinstance(whole, list | tuple) and isinstance(other, list | tuple) and len(whole) == len(other):
        for index, part in enumerate(whole):
            yield from _differing(part, other[index], f"{place}.{index}")
    elif whole != other:
        yield place.removeprefix("."), other

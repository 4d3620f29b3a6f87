"""Who may see the fault of an unreadable match: its creator and players, and everyone if the match is public."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import pytest

from events.chain import Draft, genesis, seal
from events.record import Event, canonical, digest
from service.errors import Corrupt, Refused
from service.match.new_match import NewMatch
from service.repository.match_history import History
from service.usecases.match_codes import join_code_of
from service.usecases.match_lifecycle import create, join, leave
from service.views.damaged_match_access import may_learn_of
from tests.service.arena import ENDLESS, Arena

Stored: TypeAlias = tuple[bytes, ...]

PEOPLE: Final = (None, "host", "anna", "ben", "left", "eve")
"""A client without a token, the creator, both seats, a player who left before the start, and a stranger."""
OWN: Final = frozenset({"host", "anna", "ben"})
LISTED: Final = OWN | {"left"}
"""The players in the index, here as after a crash: with one who left. It decides if the log cannot show who left."""


def table(*, private: bool) -> tuple[Arena, str]:
    arena = Arena()
    wanted = NewMatch(game="toy", seats=2, private=private)
    match = create(arena.ports, "host", wanted, "make").match
    code = join_code_of(arena.ports.secret, match.id)
    join(arena.ports, "left", match.id, "sit", join_code=code)
    leave(arena.ports, "left", match.id, "leave")
    arena.index.enrol("left", match.id, match.created_at)  # as after a crash
    for player in ("anna", "ben"):
        join(arena.ports, player, match.id, "sit", join_code=code)
    return arena, match.id


def resealed(stored: Stored, index: int, **changes: Any) -> Stored:
    """The events with one of them changed and the hash chain rebuilt."""
    events = [msgspec.json.decode(one, type=Event) for one in stored]
    events[index] = msgspec.structs.replace(events[index], **changes)
    rebuilt: list[bytes] = []
    for event in events:
        before = digest(rebuilt[-1]) if rebuilt else event.prev
        rebuilt.append(canonical(msgspec.structs.replace(event, prev=before)))
    return tuple(rebuilt)


def torn(index: int) -> Callable[[Stored], Stored]:
    return lambda stored: (*stored[:index], stored[index][:-1], *stored[index + 1 :])


class Damage(NamedTuple):
    """Damage to the events of a private match, who may see the fault, and whether the first event can be read."""

    alter: Callable[[Stored], Stored]
    allowed: frozenset[str]
    begins: bool = True


def _unknown_rules(stored: Stored) -> Stored:
    """Events of a game that this service does not know, with the usual events of seats."""
    events = [msgspec.json.decode(one, type=Event) for one in stored]
    created = {**msgspec.json.decode(events[0].data), "game": "chess", "ruleset": 3}
    drafts = [Draft("match_created", events[0].by, canonical(created))]
    drafts += [Draft(event.type, event.by, bytes(event.data)) for event in events[1:]]
    head = genesis(ID, "chess", 3)[1]
    return seal(head, drafts, events[0].at, ["0" * 32] * len(drafts))[0]


ID: Final = table(private=True)[1]
DAMAGE: Final[Mapping[str, Damage]] = {
    "the last event is torn": Damage(torn(-1), OWN),
    "a seat's event is torn": Damage(torn(3), OWN),
    "the second event is torn": Damage(torn(1), LISTED),
    "the first event is torn": Damage(torn(0), LISTED, begins=False),
    "the first event is nested too deep": Damage(lambda stored: (ENDLESS, *stored[1:]), LISTED, begins=False),
    "the first event is of a later kind": Damage(lambda stored: resealed(stored, 0, type="match_made"), OWN),
    "an event is of a later kind": Damage(lambda stored: resealed(stored, -1, type="match_paused"), OWN),
    "an event early on is of a later kind": Damage(lambda stored: resealed(stored, 1, type="seat_warmed"), OWN),
    "the rules are later ones": Damage(_unknown_rules, OWN),
    "effects cannot be applied": Damage(
        lambda stored: resealed(stored, -1, data=msgspec.Raw(b'{"draws":[],"effects":[{"type":"wonder"}]}')), OWN
    ),
    "the last event is one of the first": Damage(lambda stored: (*stored[:-1], stored[1]), OWN),
}


def allowed(arena: Arena, match: str) -> set[str | None]:
    return {player for player in PEOPLE if may_learn_of(arena.ports, match, player)}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_the_fault_of_a_private_match_is_shown_to_its_creator_and_players(damage: Damage) -> None:
    arena, match = table(private=True)
    arena.log.rewrite(match, damage.alter(arena.log.stored(match)))
    arena.log.forget_snapshots()
    with pytest.raises((Corrupt, Refused)):
        History(arena.log, arena.ports.games, arena.ports.secret).newest(match)
    assert allowed(arena, match) == damage.allowed


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_the_fault_is_shown_to_all_if_the_log_shows_that_the_match_is_public(damage: Damage) -> None:
    arena, match = table(private=False)
    arena.log.rewrite(match, damage.alter(arena.log.stored(match)))
    assert allowed(arena, match) == (set(PEOPLE) if damage.begins else damage.allowed)


def test_a_player_whose_seat_was_handed_over_may_still_see_the_fault() -> None:
    arena, match = table(private=True)
    stored = arena.log.stored(match)
    handed = canonical({"seat": 0, "player": "high", "kind": "bot"})
    arena.log.rewrite(match, resealed(stored, -1, type="seat_handed_over", data=msgspec.Raw(handed)))
    assert allowed(arena, match) == {"host", "anna", "ben"}


def test_every_match_of_a_long_list_is_checked() -> None:
    arena, match = table(private=True)
    for number in range(1200):
        arena.index.enrol("ben", f"m{number}", number)
    arena.index.enrol("eve", "other", 1)
    arena.log.rewrite(match, torn(0)(arena.log.stored(match)))
    assert allowed(arena, match) == LISTED


def test_a_missing_match_has_no_fault_to_show() -> None:
    arena, _ = table(private=True)
    assert allowed(arena, "nowhere") == set()

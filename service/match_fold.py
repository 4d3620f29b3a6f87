"""From events to the match: `begin` with the first, `step` with one more, `fold` with many."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec
from msgspec.structs import replace

from events.chain import BrokenChain, follow, genesis
from events.record import MatchId, decode
from service.errors import Corrupt, Refused
from service.games.protocol import AnyGame, BadOptions
from service.match import Match, Opening
from service.match_events import MatchCreated, codec
from service.match_steps import STEPS
from service.where import place

_ACTIONS: Final = frozenset({"action", "default_action"})
_created: Final = msgspec.json.Decoder(MatchCreated).decode


def begin(match_id: MatchId, stored: bytes, games: Mapping[str, AnyGame]) -> Match:
    """The match after its first event.

    Raises:
        Corrupt: the bytes are no `match_created` of this match.
        Refused: `engine-too-old`: the game or its ruleset is not known here.
    """
    try:
        opening = decode(stored)
        if opening.type != "match_created":
            raise _too_old(f"the event type {opening.type} at the begin of a match")
        created = _created(opening.data)
        event, head = follow(genesis(match_id, created.game, created.ruleset)[1], stored)
    except BrokenChain as error:
        raise Corrupt(1, error.fault) from error
    except (ValueError, RecursionError) as error:
        raise Corrupt(1, place(error)) from error
    game = games.get(created.game)
    if game is None or game.info.ruleset < created.ruleset:
        raise _too_old(f"{created.game} with ruleset {created.ruleset}")
    if created.seats not in game.info.seats:
        raise Corrupt(1, "a number of seats that the game does not have")
    try:
        options = game.options(created.seats, created.options)
    except BadOptions as error:
        raise Corrupt(1, "options that the game does not have") from error
    return Match(
        id=match_id,
        game=game,
        created=created,
        options=options,
        creator=event.by.removeprefix("player:"),
        created_at=event.at,
        head=head,
        at=event.at,
        seats=(None,) * created.seats,
        banks=created.full_banks(),
    )


def _too_old(what: str) -> Refused:
    return Refused("engine-too-old", f"This service is too old for this match: it does not know {what}.")


def step(match: Match, stored: bytes) -> Match:
    """The match after one more stored event, its chain checked.

    Raises:
        Corrupt: the event breaks the chain or its data is not what its type holds.
        Refused: `engine-too-old`: an event type that this service does not know.
    """
    try:
        event, head = follow(match.head, stored)
    except BrokenChain as error:
        raise Corrupt(error.version, error.fault) from error
    move = STEPS.get(event.type)
    if move is None:
        raise _too_old(f"the event type {event.type}")
    try:
        return move(match, event, head)
    except Exception as error:  # whatever a foreign event makes the rules do, only its own match stops
        raise Corrupt(event.version, place(error)) from error


def fold(match: Match, events: Sequence[bytes]) -> Match:
    """The match after some more stored events, as `step` by `step`."""
    place = 0
    while place < len(events):
        match, place = _streak(match, events, place)
        if place < len(events):
            match, place = step(match, events[place]), place + 1
    return match


def _streak(match: Match, events: Sequence[bytes], place: int) -> tuple[Match, int]:
    """The match after the actions that come next, and the place after them; none that needs more than its effects.

    Most events are actions, and a match for each would cost as much as its rules. What does not fit is left for `step`,
    which says why.
    """
    game, head, at, state = match.game, match.head, match.at, match.state
    if match.banks or game.info.simultaneous:
        return match, place
    acted, apply, first = codec(game).acted, game.apply, place
    with suppress(Exception):
        while place < len(events):
            event, following = follow(head, events[place])
            if event.type not in _ACTIONS or (data := acted(event.data)).draws:
                break
            after = state
            for effect in data.effects:
                after = apply(after, effect)
            head, at, state, place = following, event.at, after, place + 1
    if place == first:
        return match, place
    opened = Opening(head.version, at - match.paused)
    return replace(match, head=head, at=at, state=state, opened=opened), place

"""Folds stored events into a match: `begin` takes the first event, `fold` the others, `step` and `advance` a single one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import astuple

from events.chain import BrokenChain, NewerEvent, Verified, follow, genesis
from events.record import Event, Head, MatchId
from service.errors import Corrupt, Refused, location
from service.games.protocol import AnyGame, BadOptions
from service.match.events import MatchCreated
from service.match.model import Folding, Match
from service.match.transitions import transitions


class _FirstEvent(msgspec.Struct):
    """The part of a first event that every release can read."""

    type: str
    data: msgspec.Raw


_decode_first: Final = msgspec.json.Decoder(_FirstEvent).decode
_decode_created: Final = msgspec.json.Decoder(MatchCreated).decode


def _created(first: _FirstEvent) -> MatchCreated:
    try:
        return _decode_created(first.data)
    except msgspec.ValidationError as error:
        raise _too_old("the data of match_created") from error


def begin(match_id: MatchId, stored: bytes, games: Mapping[str, AnyGame]) -> Match:
    """The match after its first event.

    Raises:
        Corrupt: the bytes are not a `match_created` of this match.
        Refused: `engine-too-old`: this service does not know the game or its ruleset.
    """
    try:
        first = _decode_first(stored)
        if first.type != "match_created":
            raise _too_old(f"the event type {first.type} as the first event of a match")
        created = _created(first)
        event, head = follow(genesis(match_id, created.game, created.ruleset, created.format_number)[1], stored)
    except NewerEvent as error:
        raise _too_old("a field of the first event") from error
    except BrokenChain as error:
        raise Corrupt(1, error.fault) from error
    except (ValueError, RecursionError) as error:
        raise Corrupt(1, location(error)) from error
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


class Folded(NamedTuple):
    """A match, and the events that were folded into it."""

    match: Match
    events: tuple[Verified, ...]


def fold(match: Match, events: Sequence[bytes]) -> Match:
    """The match after some more stored events, each checked against the chain.

    Raises:
        Corrupt: an event breaks the chain, or is impossible in the match.
        Refused: `engine-too-old`: an event has a type, a field or a value that this service does not know.
    """
    if not events:
        return match  # the same object, with its cached properties
    return _fold(match, _chained(match.head, events))


def fold_verified(match: Match, events: Sequence[bytes]) -> Folded:
    """The match after some more stored events, and these events, decoded. Raises the same as `fold`."""
    verified = []

    def noted() -> Iterator[tuple[Event, Head]]:
        for event, head in _chained(match.head, events):
            verified.append(Verified(event, head))
            yield event, head

    after = _fold(match, noted()) if events else match
    return Folded(after, tuple(verified))


def advance(match: Match, event: Event, head: Head) -> Match:
    """The match after one more event, whose place in the chain was checked before; `head` is the head after it.

    Raises the same as `fold`.
    """
    return _fold(match, ((event, head),))


def _chained(head: Head, events: Iterable[bytes]) -> Iterator[tuple[Event, Head]]:
    """Each stored event, decoded and checked against the chain, and the head after it."""
    for stored in events:
        try:
            event, head = follow(head, stored)
        except NewerEvent as error:
            raise _too_old(f"a field of the event at version {error.version}") from error
        except BrokenChain as error:
            raise Corrupt(error.version, error.fault) from error
        yield event, head


def _fold(match: Match, events: Iterable[tuple[Event, Head]]) -> Match:
    folding = Folding(*astuple(match))
    known = transitions(match.game)
    for followed in events:
        event, head = followed
        transition = known.get(event.type)
        if transition is None:
            raise _too_old(f"the event type {event.type} at version {event.version}")
        try:
            decode, change = transition
            change(folding, event, decode(event.data))
        except msgspec.ValidationError as error:
            raise _too_old(f"the data of {event.type} at version {event.version}") from error
        except Exception as error:  # a damaged event may make the rules raise anything; only its own match stops
            raise Corrupt(event.version, location(error)) from error
    folding.head, folding.at = head, event.at
    return Match(*astuple(folding))


def step(match: Match, stored: bytes) -> Match:
    """The match after one more stored event. Raises the same as `fold`."""
    return fold(match, (stored,))

"""Decisions of real matches, recorded for a bot to take: one of every kind that a game has.

Bots play the matches in this process, in simulated time and with a fixed seed, so that the same release always records the same.
"""

import hmac
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from service.arena.play import id_of_match
from service.games.bots import choose_at_random
from service.games.kit.patterns import AnyOf
from service.games.protocol import CLOCK, AnyGame, BadOptions
from service.games.protocol import Task as BotTask
from service.match.commands import Act, Create, Join, Ring
from service.match.decide import decide
from service.match.model import Match, MatchId, OpenDecision
from service.match.new_match import NewMatch
from service.match.randomness import Draws, bot_key
from service.match.recording import Recording
from service.match.redaction import legal_actions
from service.match.rulings import no_chance
from service.match.seat_holder import HostedBot
from service.match.task import Task, as_of, task
from service.repository.bot_answers import LANGUAGE
from service.repository.bots import PREFIX

_OWNER: Final = "owner"
_STEP: Final = "step."
"""With it begin the keys of the texts of a game's steps. Its bells count as steps there."""
_DEALS: Final = 100
"""How many deals are played at most until every type of action was legal once. Some are rare."""
_Kind: TypeAlias = tuple[str, str, bool]
"""The step of a decision, the type of one of its legal actions, and whether this one has a pattern."""


class Recorded(NamedTuple):
    """A decision of a match for which the service would call a bot. All times are in the simulated time of the match."""

    match: Match
    decision: OpenDecision
    called_at: int

    @property
    def has_pattern(self) -> bool:
        return any(map(has_pattern, legal_actions(self.match, self.decision.seat)))

    def task(self, now: int, match_id: MatchId | None = None) -> Task:
        """What the service sends if it calls the bot at `now` (server milliseconds), in the match with this id or its own."""
        match = as_of(self.match, self.decision, now)
        found = task(replace(match, id=match_id or match.id), self.decision.seat, LANGUAGE)
        if found is None:
            raise RuntimeError("a recorded decision is open")
        return found

    def check(self, action: Mapping[str, Any]) -> None:
        """Decide an answer as the service does.

        Raises:
            Refused: it is no action, or not legal.
        """
        holder = self.match.seats[self.decision.seat]
        player = "" if holder is None else holder.player
        decide(self.match, Act(player=player, action=action, decision=self.decision.id), self.called_at, no_chance)


def recorded(game: AnyGame, limit_ms: int) -> tuple[Recorded, ...]:
    """The first decisions that have each kind of action: of all steps and all types of actions that the game has.

    limit_ms: how long a bot may take for a decision, unless the game itself limits it.
    """
    types = {str(action.__struct_config__.tag) for action in game.info.actions}
    steps = {key.removeprefix(_STEP) for key in game.texts[LANGUAGE] if key.startswith(_STEP)}
    found: list[Recorded] = []
    known: set[_Kind] = set()
    for one in _of_many_matches(game, limit_ms):
        if (kinds := _kinds(one)) <= known:
            continue
        known |= kinds
        found.append(one)
        steps -= {decision.step for decision in one.match.decisions() if decision.seat in {one.decision.seat, CLOCK}}
        types -= {action for _, action, _ in kinds}
        if not types and not steps:
            break
    return tuple(found)


def _of_many_matches(game: AnyGame, limit_ms: int) -> Iterator[Recorded]:
    """Decisions of matches of every number of seats with each variant of a game."""
    for deal in range(_DEALS):
        for seats in game.info.seats:
            for options in ({}, *game.info.variants.values()):
                with suppress(BadOptions):  # some variants are for some numbers of seats
                    game.options(seats, options)
                    yield from _played(game, seats, options, limit_ms, deal)


def first(game: AnyGame, limit_ms: int) -> Recorded:
    """The first decision of a match of two bots."""
    return next(_played(game, 2, {}, limit_ms))


def _kinds(one: Recorded) -> set[_Kind]:
    legal = legal_actions(one.match, one.decision.seat)
    return {(one.decision.step, str(action.__struct_config__.tag), has_pattern(action)) for action in legal}


def has_pattern(action: Any) -> bool:
    """Whether an entry of a legal list stands for many actions."""
    return any(isinstance(getattr(action, name), AnyOf) for name in action.__struct_fields__)


def _played(
    game: AnyGame, seats: int, options: Mapping[str, object], limit_ms: int, deal: int = 0
) -> Iterator[Recorded]:
    """Each decision of a whole match, before it is taken at random."""
    seed = hmac.digest(game.info.id.encode(), repr((seats, sorted(options), deal)).encode(), "sha256")
    salt = hmac.digest(seed, b"salt", "sha256").hex()[:32]
    recording = Recording(id_of_match(seed, 0), game, seed, lambda _: salt)
    wanted = NewMatch(game.info.id, seats, options)
    match = recording.carry_out(Create(player=_OWNER, game=game, wanted=wanted), 0)
    for seat in range(seats):
        bot = HostedBot(f"{PREFIX}{seat}", _OWNER, limit_ms)
        match = recording.carry_out(Join(player=bot.id, hosted=bot), 0)
    chances = [Draws(lambda seat=seat: bot_key(seed, seat), {}) for seat in range(seats)]  # type: ignore[misc]  # a bound default
    while match.decisions():
        bell = match.first_due()
        called = _next_call(match)
        if called is not None and (bell is None or called.called_at < (bell.enforced_at or 0)):
            yield called
            seat = called.decision.seat
            legal = tuple(game.legal_actions(match.state, seat))
            asked = BotTask(seat, called.decision.step, game.observation(match.state, seat), legal, match.id)
            action = msgspec.to_builtins(choose_at_random(asked, chances[seat]))
            match = recording.carry_out(Act(player=f"{PREFIX}{seat}", action=action), called.called_at)
        elif bell is not None and bell.enforced_at is not None:
            match = recording.carry_out(Ring(label=bell.step), bell.enforced_at)
        else:
            raise RuntimeError("nothing ends the wait for a decision")


def _next_call(match: Match) -> Recorded | None:
    """The decision for which a bot is called next, unless its deadline is earlier."""
    calls = (
        (one.called_at, one.seat, one)
        for one in match.decisions()
        if one.called_at is not None and not one.is_past(one.called_at)
    )
    first_call = min(calls, key=lambda call: call[:2], default=None)
    return None if first_call is None else Recorded(match, first_call[2], first_call[0])

"""Decides actions, default actions and bells by the rules of the game, and builds refusals."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from events.chain import Draft
from events.record import canonical
from service.errors import NotDue, Refused
from service.games.kit.mismatch import Mismatch, alternatives, mismatch
from service.games.protocol import CLOCK, AnyGame, IllegalAction, Move, TooEarly
from service.games.protocol import Ring as Bell
from service.games.visibility import Action, Seat
from service.match.commands import Act, ActAsBot, Ring, TakeDefault
from service.match.events import Acted, DefaultReason, Rang, codec
from service.match.model import Expiry, Match, OpenDecision, SeatHolder
from service.match.randomness import Chance, Draws, match_key
from service.match.redaction import see_decisions
from service.match.refusals import refused
from service.match.texts import refusal_texts

MAX_LEGAL_LISTED: Final = 50
"""A refusal contains the legal actions if they are at most this many; otherwise only their counts by type."""
MAX_LEGAL_IN_WORDS: Final = 5
"""Maximum number of legal actions that the text of a refusal names."""


def act(match: Match, command: Act, at: int, chance: Chance) -> tuple[Draft, ...]:
    """A person's action."""
    seat, action = _admit(match, command, at)
    return (_ruled(match, seat, action, at, draws(match, chance), by=f"seat:{seat}"),)


def _admit(match: Match, command: Act, at: int) -> tuple[Seat, Any]:
    """The seat and the typed action of a command, if everything but the rules allows it at `at`."""
    seat = match.seat_of(command.player)
    if seat is None:
        if match.was_of(command.player):
            raise refused("not-seated.replaced")
        raise refused("not-seated.outsider")
    if command.seat is not None and command.seat != seat:
        raise refused("not-your-seat", seat=seat)
    check_running(match)
    if _holder(match, seat).resigned:
        raise refused("not-seated.resigned")
    action = parse_action(match.game, command.action)
    if match.game.info.simultaneous and command.received_at is not None:
        paused = match.paused if command.paused_ms is None else command.paused_ms
        received_at = command.received_at - paused + match.paused
        if received_at < at:
            # A bell may have been appended since the receipt: the action must not count for the next round, and the
            # rules give a better reason than `decision-closed`.
            _ruled(match, seat, action, received_at, draws(match, no_chance), by="")
    mine = [decision for decision in match.decisions() if decision.seat == seat]
    if command.decision is not None and command.decision not in {decision.id for decision in mine}:
        raise refused("decision-closed", **_position(match, seat))
    if not mine and not match.game.info.simultaneous:
        raise refused("not-your-turn", **_position(match, seat))
    if mine and all(decision.is_past(at) for decision in mine):
        # The server's time of receipt decides, even if the deadline is not enforced yet.
        raise refused("too-late", received_at=at, **_position(match, seat))
    return seat, action


def act_as_bot(match: Match, command: ActAsBot, at: int, chance: Chance) -> tuple[Draft, ...]:
    """A bot's action, parsed as strictly as a person's."""
    holder = _holder(match, command.seat)
    if holder.kind != "bot" or holder.player != command.bot:
        raise NotDue(f"the bot {command.bot} does not have seat {command.seat}")
    if not any(decision.is_played(at) and not decision.is_past(at) for decision in _of_seat(match, command.seat)):
        raise NotDue("it is not this bot's turn at this time")
    action = parse_action(match.game, command.action)
    return (_ruled(match, command.seat, action, at, draws(match, chance), by=f"bot:{command.bot}"),)


def take_default(match: Match, command: TakeDefault, at: int, chance: Chance) -> tuple[Draft, ...]:
    """The default action of an open decision, if its reason is true."""
    seat, action, reason = command.seat, command.action, command.reason
    holder = _holder(match, seat)
    defaults = [one for one in _of_seat(match, seat) if one.on_timeout is not None and one.on_timeout == action]
    if reason in {"clock", "bot-late"}:
        holds = holder.is_hosted == (reason == "bot-late") and check_due(match, at, "default_action") in defaults
    elif reason == "bot-failed":
        in_time = [one for one in defaults if not one.is_past(at)]
        if holder.is_hosted:
            holds = any(one.opens_at <= at and match.expiry(one) == "default_action" for one in in_time)
        else:
            holds = holder.kind == "bot" and any(one.is_played(at) for one in in_time)
    else:
        holds = holder.resigned and any(one.is_played(at) for one in defaults)
    if not holds:
        raise NotDue(f"no open decision of seat {seat} takes this default action for the reason {reason}")
    return (_ruled(match, seat, action, at, draws(match, chance), by="worker", reason=reason),)


def ring(match: Match, command: Ring, at: int, chance: Chance) -> tuple[Draft, ...]:
    """The bell of a timed game."""
    if check_due(match, at, "timer").step != command.label:
        raise NotDue(f"{command.label} is not the next bell")
    rng = draws(match, chance)
    bell: Move[Any] = Move(CLOCK, Bell(command.label), at - match.paused)
    effects = match.game.decide(match.state, bell, rng)
    return (Draft("timer", "worker", canonical(Rang(command.label, effects, tuple(rng.drawn) or UNSET))),)


def check_due(match: Match, at: int, event_type: Expiry) -> OpenDecision:
    """The first decision whose deadline is enforced, if it is due and an event of this type follows.

    Raises:
        NotDue: no deadline is due, or an event of another type follows.
    """
    first = match.first_due()
    if first is None or first.enforced_at is None or at < first.enforced_at:
        raise NotDue("no deadline has passed yet")
    if (expected := match.expiry(first)) != event_type:
        raise NotDue(f"after the deadline that has passed comes {expected}")
    return first


def check_running(match: Match) -> None:
    if match.status == "open":
        raise refused("match-not-running")
    if match.status == "suspended":
        raise refused("match-suspended")
    if not match.decisions():
        raise refused("match-over")


def draws(match: Match, chance: Chance) -> Draws:
    """The labelled draws that the rules may make next."""
    return Draws(lambda: match_key(chance(), match.client_seeds()), match.drawn)


def no_chance() -> bytes:
    """A fixed seed for dry runs. What is drawn from it is discarded."""
    return bytes(32)


def parse_action(game: AnyGame, action: Mapping[str, Any]) -> Any:
    """A typed action from its JSON form.

    Raises:
        Refused: `invalid-action` with the path of the fault and what would be right there.
    """
    try:
        return codec(game).action(canonical(action))
    except msgspec.ValidationError as error:
        kinds = {str(kind.__struct_config__.tag): kind for kind in game.info.actions}
        given = action.get("type")
        if not isinstance(given, str) or given not in kinds:
            found = Mismatch(("type",), f"must be {alternatives(list(kinds))}")
        else:
            found = mismatch(kinds[given], error)
        path = ("action", *found.path)
        raise Refused("invalid-action", f"No such action: {found}.", parameter=path, types=list(kinds)) from None


def _holder(match: Match, seat: Seat) -> SeatHolder:
    holder = match.seats[seat] if 0 <= seat < len(match.seats) else None
    if holder is None:
        raise NotDue(f"nobody has seat {seat}")
    return holder


def _of_seat(match: Match, seat: Seat) -> list[OpenDecision]:
    return [decision for decision in match.decisions() if decision.seat == seat]


def _ruled(
    match: Match, seat: Seat, action: Any, at: int, rng: Draws, *, by: str, reason: DefaultReason | UnsetType = UNSET
) -> Draft:
    """The event of an action that the rules accept.

    Raises:
        Refused: `illegal-action` with the reason and clause of the rules, and what is legal; `too-early`.
    """
    game = match.game
    try:
        effects = game.decide(match.state, Move(seat, action, at - match.paused), rng)
    except TooEarly as refusal:
        raise _too_early(match, seat, at, refusal) from None
    except IllegalAction as refusal:
        raise illegal(match, seat, refusal, action) from None
    data = Acted(seat, action, effects, tuple(rng.drawn) or UNSET, reason)
    return Draft("action" if reason is UNSET else "default_action", by, canonical(data))


def _too_early(match: Match, seat: Seat, at: int, refusal: TooEarly) -> Refused:
    """Lists no legal actions: nothing is legal before `opens_at`."""
    opens_at = refusal.opens_at + match.paused
    return Refused(
        "too-early",
        refusal_texts(match.game, refusal),
        clause=refusal.clause,
        received_at=at,
        opens_at=opens_at,
        retry_after=-((at - opens_at) // 1000),
        **_position(match, seat),
    )


def illegal(match: Match, seat: Seat, refusal: IllegalAction, action: Action) -> Refused:
    """The refusal of an illegal action, with the legal ones of its seat. Its text names a few of them, those of the same type first."""
    legal = match.game.legal_actions(match.state, seat)
    listed: list[Action] = []
    alike: list[Action] = []
    counts = Counter[str]()
    for one in legal:
        counts[one.__struct_config__.tag] += 1
        if len(listed) <= MAX_LEGAL_LISTED:
            listed.append(one)
        if type(one) is type(action) and len(alike) < MAX_LEGAL_IN_WORDS:
            alike.append(one)
    facts: dict[str, object] = {"reason": refusal.code, "clause": refusal.clause, **_position(match, seat)}
    if refusal.facts:
        facts["facts"] = refusal.facts
    if len(listed) <= MAX_LEGAL_LISTED:
        facts["legal"] = listed
    examples = [*alike, *(one for one in listed if type(one) is not type(action))][:MAX_LEGAL_IN_WORDS]
    facts["legal_counts"] = dict(sorted(counts.items()))
    details = refusal_texts(match.game, refusal, examples, counts.total() - len(examples))
    return Refused("illegal-action", details, **facts)


def _position(match: Match, seat: Seat) -> dict[str, object]:
    return {"version": match.head.version, "head": match.head.hash, "decisions": see_decisions(match, seat)}

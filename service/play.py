"""The one way a seat acts: load, decide, append."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from events.chain import Draft
from events.record import MatchId, Version, canonical, decode, digest
from service.command import Submitted, draws, given_back, player_command, submit
from service.errors import Refused
from service.games.kit.misfit import Misfit, any_of, misfit
from service.games.protocol import AnyGame, IllegalAction, Move, TooEarly
from service.games.visibility import Action, Seat
from service.history import SeenDecision, SeenEvent, see_decisions, see_event, viewer_of
from service.match import Match
from service.match_events import Acted, DefaultReason, codec
from service.ports import Ports
from service.randomness import Draws
from service.refusals import refused
from service.texts import refusal_texts

LISTED_WHOLE: Final = 50
"""Legal lists up to this length come whole with a refusal; longer ones as counts by type."""
LISTED_IN_WORDS: Final = 5
"""So many legal actions, at most, are told in the sentence of a refusal."""


class Receipt(msgspec.Struct, frozen=True):
    """What an accepted command did: `received_at` is the server's time of receipt in milliseconds."""

    match: MatchId
    version: Version
    head: str
    received_at: int
    event: SeenEvent
    decisions: tuple[SeenDecision, ...]


class ActionRequest(msgspec.Struct, frozen=True):
    """An action in its JSON form; `seat` and `decision` are checked where given."""

    action: Mapping[str, Any]
    seat: Seat | None = None
    decision: str | None = None


def act(
    ports: Ports,
    player: str,
    match_id: MatchId,
    request: ActionRequest,
    key: str,
    precondition: Callable[[Match], None] | None = None,
) -> Submitted:
    """A person's action, applied exactly once however often it is sent with the same key.

    Raises:
        Refused: `not-seated`, `not-your-seat`, `match-not-running`, `match-over`, `match-suspended`,
            `decision-closed`, `not-your-turn`, `too-late`, `too-early`, `invalid-action`, `illegal-action`, and what
            `submit` and the precondition refuse.
    """
    received_at = ports.now()
    first: Match | None = None

    def decide(match: Match, at: int) -> list[Draft]:
        nonlocal first
        begun, match = _on_time(ports, match, at)
        first = match if first is None else first
        paused = _paused_when(ports, first, match, received_at)
        seat, action = admit(match, player, request, at, came_at=received_at - paused + match.paused)
        return [*begun, acted(match, seat, action, at, draws(ports, match), by=f"seat:{seat}")]

    command = player_command(player, key, {"act": msgspec.to_builtins(request)}, precondition)
    return submit(ports, match_id, command, decide, player=player, received_at=received_at)


def receipt(ports: Ports, submitted: Submitted, player: str) -> Receipt:
    """What a player's command did, as its seat may see it: the same receipt whenever the command is sent again."""
    match = submitted.match
    viewer = match.seat_of(player)
    if submitted.newest is None:
        (event,) = ports.history.events(match, viewer, match.head.version - 1, 1)
    else:
        event = see_event(match, decode(submitted.newest), match.head.hash, viewer)
    return Receipt(
        match=match.id,
        version=match.head.version,
        head=match.head.hash,
        received_at=event.at,
        event=event,
        decisions=see_decisions(match, viewer),
    )


def judge(
    ports: Ports,
    player: str,
    match_id: MatchId,
    request: ActionRequest,
    precondition: Callable[[Match], None] | None = None,
) -> None:
    """A dry run: raises what `act` would refuse, and draws and tells nothing."""
    match, _ = ports.history.newest(match_id)
    viewer_of(match, player)
    if precondition is not None:
        precondition(match)
    at = max(ports.now(), match.at)
    _, match = _on_time(ports, match, at)
    seat, action = admit(match, player, request, at)
    acted(match, seat, action, at, _no_draws(), by="")


def _on_time(ports: Ports, match: Match, at: int) -> tuple[Sequence[Draft], Match]:
    """The match with the time that an outage of ours cost it, where that could matter, and what has to be told of it first.

    A deadline that passed while nobody enforced any is none: the sweepers will give the time back, but an action that
    comes before they do must not be too late for it.
    """
    if not any(one.deadline is not None and one.deadline <= at for one in match.decisions()):
        return (), match
    lost = given_back(match, at, ports.silence())
    if lost is None:
        return (), match
    return [Draft("clock_extended", "worker", canonical(lost))], replace(match, paused=match.paused + lost.ms)


def _paused_when(ports: Ports, first: Match, match: Match, received_at: int) -> int:
    """How far match time lay behind when an action came in that was first tried on one match, and now on a newer one.

    The first may have been memory, which knows nothing of an outage before the action; what was lost after it counts not.
    """
    if first.paused == match.paused or match.at <= received_at:
        return match.paused
    stored = ports.log.read(match.id, first=first.head.version, last=match.head.version).events
    known = [event.version for event in map(decode, stored) if event.at <= received_at]
    return max(first.paused, ports.history.at(match.id, max(known)).paused) if known else first.paused


def _no_draws() -> Draws:
    """Chance for judging only: what is drawn from it is thrown away."""
    return Draws(lambda: bytes(32), {})


def admit(
    match: Match, player: str, request: ActionRequest, at: int, *, came_at: int | None = None
) -> tuple[Seat, Any]:
    """The seat and typed action of a request that may be put to the rules; `came_at` is earlier if it was overtaken."""
    seat = match.seat_of(player)
    if seat is None:
        if match.was_of(player):
            raise refused("not-seated.replaced")
        raise refused("not-seated.outsider")
    if request.seat is not None and request.seat != seat:
        raise refused("not-your-seat", seat=seat)
    check_running(match)
    sitter = match.seats[seat]
    if sitter is not None and sitter.resigned:
        raise refused("not-seated.resigned")
    action = parse_action(match.game, request.action)
    if came_at is not None and came_at < at and match.game.info.simultaneous:
        # What overtook it may be the bell: it is never taken for an action of the round that follows, and the rules say
        # more of it than that its decision is closed.
        acted(match, seat, action, came_at, _no_draws(), by="")
    mine = [decision for decision in match.decisions() if decision.seat == seat]
    if request.decision is not None and request.decision not in {decision.id for decision in mine}:
        raise refused("decision-closed", **_position(match, seat))
    if not mine and not match.game.info.simultaneous:
        raise refused("not-your-turn", **_position(match, seat))
    if mine and all(decision.deadline is not None and at >= decision.deadline for decision in mine):
        # The server's time of receipt decides, whether or not the clock was enforced yet.
        raise refused("too-late", received_at=at, **_position(match, seat))
    return seat, action


def check_running(match: Match) -> None:
    if match.status == "open":
        raise refused("match-not-running")
    if match.status == "suspended":
        raise refused("match-suspended")
    if not match.decisions():
        raise refused("match-over")


def parse_action(game: AnyGame, action: Mapping[str, Any]) -> Any:
    """A typed action from its JSON form; says where it is none, and what would be right there."""
    try:
        return codec(game).action(canonical(action))
    except msgspec.ValidationError as error:
        kinds = {str(kind.__struct_config__.tag): kind for kind in game.info.actions}
        given = action.get("type")
        if not isinstance(given, str) or given not in kinds:
            found = Misfit(("type",), f"must be {any_of(list(kinds))}")
        else:
            found = misfit(kinds[given], error)
        place = ("action", *found.path)
        raise Refused("invalid-action", f"No such action: {found}.", parameter=place, types=list(kinds)) from None


def acted(
    match: Match, seat: Seat, action: Any, at: int, rng: Draws, *, by: str, reason: DefaultReason | UnsetType = UNSET
) -> Draft:
    """The event of an action as the rules judge it.

    Raises:
        Refused: `illegal-action` with the rules' reason, the clause, and what is legal; `too-early`.
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
    """What is legal is not listed: none of it is before `opens_at`."""
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
    """Why an action is refused, with what its seat may do: a few such actions in words, those of the same type first."""
    legal = match.game.legal_actions(match.state, seat)
    listed: list[Action] = []
    alike: list[Action] = []
    counts = Counter[str]()
    for one in legal:
        counts[one.__struct_config__.tag] += 1
        if len(listed) <= LISTED_WHOLE:
            listed.append(one)
        if type(one) is type(action) and len(alike) < LISTED_IN_WORDS:
            alike.append(one)
    facts: dict[str, object] = {"reason": refusal.code, "clause": refusal.clause, **_position(match, seat)}
    if refusal.facts:
        facts["facts"] = refusal.facts
    if len(listed) <= LISTED_WHOLE:
        facts["legal"] = listed
    examples = [*alike, *(one for one in listed if type(one) is not type(action))][:LISTED_IN_WORDS]
    facts["legal_counts"] = dict(sorted(counts.items()))
    details = refusal_texts(match.game, refusal, examples, counts.total() - len(examples))
    return Refused("illegal-action", details, **facts)


def _position(match: Match, seat: Seat) -> dict[str, object]:
    return {"version": match.head.version, "head": match.head.hash, "decisions": see_decisions(match, seat)}


def must_be_newest(ports: Ports, version: Version, hash_prefix: str) -> Callable[[Match], None]:
    """A precondition: the newest head must be the one that the client saw.

    Raises (when called):
        Refused: `stale-version` if the match went on, `history-diverged` if the version seen is not of this history.
    """

    def check(match: Match) -> None:
        newest = {"version": match.head.version, "head": match.head.hash}
        if 0 < version < match.head.version:
            seen = ports.log.read(match.id, first=version, last=version).events
            if any(digest(stored).startswith(hash_prefix) for stored in seen):
                raise refused("stale-version", **newest)
        if version != match.head.version or not match.head.hash.startswith(hash_prefix):
            raise refused("history-diverged", **newest)

    return check

"""What a viewer may see of a match: events without hidden fields, decisions, and whose view a player may ask for."""

from collections.abc import Sequence
from operator import is_
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from events.record import Event, MatchId, Version, canonical
from service.errors import Refused, no_match
from service.games.protocol import CLOCK
from service.games.visibility import Effect, Redacted, Seat, Viewer, redact
from service.match.events import codec
from service.match.model import Match, OpenDecision


class SeenDecision(msgspec.Struct, frozen=True):
    """A decision as a viewer sees it. Only its own seat sees `on_timeout`, the action at the deadline.

    `deadline` is null if there is none, or if the match's options hide it. `text` describes the decision, if the client
    requested texts.
    """

    id: str
    seat: Seat | str
    step: str
    opens_at: int
    deadline: int | None
    on_timeout: Any = UNSET
    text: str | UnsetType = UNSET


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """The open decisions and the banks of a match as a viewer may see them, if the client requested them.

    Only the newest frame of a running match has the viewer's own `legal_actions`, and their texts as `action_texts`.
    """

    decisions: tuple[SeenDecision, ...] | UnsetType = UNSET
    banks: tuple[int, ...] | UnsetType = UNSET
    legal_actions: tuple[Any, ...] | UnsetType = UNSET
    action_texts: tuple[str, ...] | UnsetType = UNSET


class SeenEvent(Situation, frozen=True):
    """An event as a viewer sees it. If something is hidden, `redacted` is true and the hidden fields and `salt` are absent.

    `text` describes the event in words, if the client requested texts.
    """

    match: MatchId
    version: Version
    type: str
    at: int
    by: str
    data: msgspec.Raw
    prev: str
    hash: str
    salt: str | UnsetType = UNSET
    redacted: bool | UnsetType = UNSET
    text: str | UnsetType = UNSET


def see_event(match: Match, event: Event, hash_: str, viewer: Viewer) -> SeenEvent:
    """An event without what is hidden from the viewer. Draws are never shown: effects contain their public part."""
    data = _shown(match, event, viewer)
    return SeenEvent(
        match=match.id,
        version=event.version,
        type=event.type,
        at=event.at,
        by=event.by,
        data=event.data if data is None else msgspec.Raw(canonical(data)),
        prev=event.prev,
        hash=hash_,
        salt=event.salt if data is None else UNSET,
        redacted=UNSET if data is None else True,
    )


def _shown(match: Match, event: Event, viewer: Viewer) -> dict[str, Any] | None:
    """An event's data without its draws and what is hidden from the viewer; None if the viewer may see all of it."""
    shown: dict[str, Any]
    if event.type in {"action", "default_action"}:
        acted = codec(match.game).acted(event.data)
        action = redact(acted.action, viewer, acted.seat)
        effects, whole = _redacted(acted.effects, viewer)
        if whole and action is acted.action and acted.draws is UNSET:
            return None
        shown = {"seat": acted.seat, "action": action, "effects": effects}
        return shown if acted.reason is UNSET else {**shown, "reason": acted.reason}
    if event.type == "match_started":
        return {"effects": _redacted(codec(match.game).started(event.data).effects, viewer)[0]}
    if event.type == "timer":
        rang = codec(match.game).rang(event.data)
        effects, whole = _redacted(rang.effects, viewer)
        return None if whole and rang.draws is UNSET else {"label": rang.label, "effects": effects}
    if event.type == "match_scored":
        shown = msgspec.json.decode(event.data)
        return None if shown.pop("draws", None) is None else shown
    return None


def _redacted(effects: Sequence[Effect], viewer: Viewer) -> tuple[list[Redacted], bool]:
    """Effects as a viewer may see them, and whether nothing in them is hidden."""
    found = [redact(effect, viewer) for effect in effects]
    return found, all(map(is_, found, effects))


def see_decisions(match: Match, viewer: Viewer) -> tuple[SeenDecision, ...]:
    return tuple(_see_decision(decision, viewer) for decision in match.decisions())


def own_decisions(match: Match, seat: Viewer) -> tuple[SeenDecision, ...]:
    """The open decisions of a seat, as the seat sees them."""
    return tuple(_see_decision(decision, seat) for decision in match.decisions() if decision.seat == seat)


def _see_decision(decision: OpenDecision, viewer: Viewer) -> SeenDecision:
    return SeenDecision(
        id=decision.id,
        seat="clock" if decision.seat == CLOCK else decision.seat,
        step=decision.step,
        opens_at=decision.opens_at,
        deadline=decision.deadline if decision.deadline_shown else None,
        on_timeout=decision.on_timeout if viewer == decision.seat else UNSET,
    )


def viewer_of(match: Match, player: str | None, wanted: Seat | None = None) -> Viewer:
    """Whose view a request gets: that of the player's own seat, or of a spectator.

    Once the match is over, `wanted` may be any seat.

    Raises:
        Refused: `match-not-found` for a private match that is not the player's, `not-your-seat`, `invalid-parameter`.
    """
    own = match.seat_of(player) if player is not None else None
    if match.created.private and (player is None or not match.is_of(player)):
        raise no_match()
    if wanted is None or wanted == own:
        return own
    if not 0 <= wanted < len(match.seats):
        raise Refused("invalid-parameter", f"The match has seats 0 to {len(match.seats) - 1}.", parameter="viewer")
    require_over(match)
    return wanted


def require_over(match: Match) -> None:
    """Check that the match is over, so that every seat's view is public.

    Raises:
        Refused: `not-your-seat`: the match is not over.
    """
    if not match.is_over:
        raise Refused("not-your-seat", "Another seat's view is open to all only after the end of the match.")


def legal_actions(match: Match, viewer: Viewer) -> tuple[Any, ...]:
    """The legal actions of a seat; empty for a spectator, and if the match is not running."""
    if viewer is None or match.status != "running":
        return ()
    return tuple(match.game.legal_actions(match.state, viewer))

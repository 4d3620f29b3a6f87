"""What a viewer may see of a match: its events without hidden fields, its decisions, and the right to look at all."""

from collections.abc import Sequence
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
    """A decision as a viewer sees it: what happens at the deadline is told to its own seat only.

    `deadline` is null where there is none, and where the match's options hide it. `text` says what is asked, where texts
    were asked for.
    """

    id: str
    seat: Seat | str
    step: str
    opens_at: int
    deadline: int | None
    on_timeout: Any = UNSET
    text: str | UnsetType = UNSET


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What a match waits for, as a viewer may know it, where that was asked for; `banks` are those of a match.

    The viewer's own `legal_actions` (`action_texts` says each in words) stand in the newest frame of a running match only.
    """

    decisions: tuple[SeenDecision, ...] | UnsetType = UNSET
    banks: tuple[int, ...] | UnsetType = UNSET
    legal_actions: tuple[Any, ...] | UnsetType = UNSET
    action_texts: tuple[str, ...] | UnsetType = UNSET


class SeenEvent(Situation, frozen=True):
    """An event as a viewer sees it: the `salt` only if all of it is shown, else `redacted` and the hidden fields absent.

    `text` says it in words, where they were asked for.
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
    """An event without what the viewer may not know. Draws are never part of it: what is public of them is an effect."""
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
    """An event's data without its draws and what is hidden from the viewer; None if all of it may be seen."""
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
    """Effects as a viewer may see them, and whether that is all of them."""
    found = [redact(effect, viewer) for effect in effects]
    return found, all(shown is effect for shown, effect in zip(found, effects, strict=True))


def see_decisions(match: Match, viewer: Viewer) -> tuple[SeenDecision, ...]:
    return tuple(_see_decision(decision, viewer) for decision in match.decisions())


def own_decisions(match: Match, seat: Viewer) -> tuple[SeenDecision, ...]:
    """The decisions that a seat has to take, as it sees them."""
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
    """The right to look: a person's own seat, or a spectator; any seat once the match is over.

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
    """Let only matches pass that are over, of which every seat's view is open to all.

    Raises:
        Refused: `not-your-seat`: the match goes on.
    """
    if not match.is_over:
        raise Refused("not-your-seat", "Another seat's view is open to all only after the end of the match.")


def legal_actions(match: Match, viewer: Viewer) -> tuple[Any, ...]:
    """The whole legal list of a seat; nothing for a spectator or a match that does not run."""
    if viewer is None or match.status != "running":
        return ()
    return tuple(match.game.legal_actions(match.state, viewer))

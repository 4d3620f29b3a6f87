"""Use cases for a person's action: take it, judge it in a dry run, and confirm it by a receipt."""

from collections.abc import Mapping
from typing import Any

import msgspec

from events.record import MatchId, Version
from service.games.visibility import Seat
from service.match.commands import Act, SeenHead
from service.match.decide import decide
from service.match.model import Match
from service.match.redaction import SeenDecision, SeenEvent, see_decisions, see_event
from service.match.rulings import no_chance
from service.repository.ports import Ports
from service.usecases.submit import Submitted, detecting_divergence, lost, player_key, submit


class Receipt(msgspec.Struct, frozen=True):
    """The result of an accepted command. `received_at` is the server time of receipt in milliseconds."""

    match: MatchId
    version: Version
    head: str
    received_at: int
    event: SeenEvent
    decisions: tuple[SeenDecision, ...]


class ActionRequest(msgspec.Struct, frozen=True):
    """An action in its JSON form. `seat` and `decision` are checked if they are given."""

    action: Mapping[str, Any]
    seat: Seat | None = None
    decision: str | None = None

    def command(self, player: str, if_match: tuple[SeenHead, ...] | None) -> Act:
        return Act(player=player, if_match=if_match, action=self.action, seat=self.seat, decision=self.decision)


def act(
    ports: Ports,
    player: str,
    match_id: MatchId,
    request: ActionRequest,
    key: str,
    if_match: tuple[SeenHead, ...] | None = None,
    read: Match | None = None,
) -> Submitted:
    """Take a player's action. It is applied once, however often it is sent with the same key. `read`: see `submit`.

    Raises:
        Refused: `not-seated`, `not-your-seat`, `match-not-running`, `match-over`, `match-suspended`,
            `decision-closed`, `not-your-turn`, `too-late`, `too-early`, `invalid-action`, `illegal-action`,
            `stale-version`, `history-diverged`, and what `submit` refuses.
    """
    command_key = player_key(player, key, {"act": msgspec.to_builtins(request)})
    return submit(ports, match_id, command_key, request.command(player, if_match), read=read)


def judge(
    ports: Ports,
    player: str,
    match_id: MatchId,
    request: ActionRequest,
    if_match: tuple[SeenHead, ...] | None = None,
) -> None:
    """A dry run: raises what `act` would raise. It changes nothing, and draws nothing from the match's own seed."""
    match, _ = ports.history.newest(match_id)
    at = max(ports.now(), match.at)
    command = request.command(player, if_match)
    with detecting_divergence(ports, match, command):
        decide(match, command, at, no_chance, lost(ports, match, at, reopens_decisions=True))


def receipt(ports: Ports, submitted: Submitted, player: str) -> Receipt:
    """The receipt of a player's command, as its seat may see it. A repeated command gets the same receipt."""
    match = submitted.match
    viewer = match.seat_of(player)
    if submitted.newest is None:
        (event,) = ports.history.events(match, viewer, match.head.version - 1, 1)
    else:
        event = see_event(match, submitted.newest, match.head.hash, viewer)
    return Receipt(
        match=match.id,
        version=match.head.version,
        head=match.head.hash,
        received_at=event.at,
        event=event,
        decisions=see_decisions(match, viewer),
    )

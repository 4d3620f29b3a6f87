"""Rematch: one more match of the same people, whoever of them asks, and however many ask at once.

The new match's id and the command that creates it follow from the old match alone. So there is nothing to claim before
the creation, and who asks later, or again after a crash, finds the same match and adds what is missing in it.
"""

import hashlib
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from events.record import MatchId
from service.errors import Refused, no_match
from service.games.visibility import Seat
from service.match.model import OPEN_MS, Match, SeatHolder
from service.match.new_match import NewMatch
from service.repository.bots import is_hosted
from service.repository.news import RematchAsked
from service.repository.ports import Ports
from service.usecases.match_codes import join_code_of, match_id_of
from service.usecases.match_lifecycle import add_bot, create_as, join
from service.usecases.submit import Admit, CommandKey, Submitted

ATTEMPTS: Final = 20
"""Maximum number of rematches of a match. The next one is created only if the one before was aborted."""
_ABSENT: Final = frozenset({"bot-not-found", "bot-not-allowed", "bot-busy"})
"""Codes of refusals after which a hosted bot does not come along; its seat stays free."""


def rematch(ports: Ports, player: str, match_id: MatchId, admit_bots: Admit | None = None) -> Submitted:
    """Create the rematch of a finished match, or find it, and seat the player in it.

    Everyone moves up by one seat, and the last seat becomes the first. Bots that had their seats from the start come
    along. If somebody else has the player's seat, the player gets the lowest free one. A creator who had no seat gets
    none.

    Raises:
        Refused: `match-not-found`, `not-seated`, `match-not-finished`, `match-over`: too many rematches were aborted;
            what `create`, `add_bot` and `join` refuse.
    """
    old, _ = ports.history.newest(match_id)
    if not old.is_of(player):
        if old.created.private:
            raise no_match()
        raise Refused("not-seated", "Only the creator and the players of a match may ask for its rematch.")
    if old.status != "finished":
        raise Refused("match-not-finished", "A match that is not finished has no rematch.")
    made = _found_or_created(ports, player, old)
    _notify_others(ports, player, old, made.match)
    submitted = made
    for seat, holder in enumerate(old.seats):
        if holder is not None and _comes_along(old, holder):
            submitted = _with_bot(ports, submitted, _rotated(old, seat), holder.player, admit_bots)
    own = _seat_of(old, player)
    if own is None or submitted.match.seat_of(player) is not None:
        return replace(submitted, replayed=made.replayed)
    return _seated(ports, player, submitted.match, _rotated(old, own))


def _found_or_created(ports: Ports, player: str, old: Match) -> Submitted:
    created = old.created
    wanted = NewMatch(
        created.game,
        created.seats,
        created.options,
        clock=created.clock,
        private=created.private,
        manual_start=created.manual_start,
        rated=created.rated is True,
        bot_fallback="default_action" if created.bot_fallback is UNSET else created.bot_fallback,
        open_ms=OPEN_MS if created.open_ms is UNSET else created.open_ms,
    )
    for number in range(ATTEMPTS):
        name = f"rematch:{old.id}:{number}"
        new_id = match_id_of(ports.secret, "", name)
        made = create_as(ports, player, wanted, new_id, CommandKey(name, hashlib.sha256(name.encode()).hexdigest()))
        newest, _ = ports.history.newest(new_id)
        if newest.status != "aborted":
            return replace(made, match=newest)
    raise Refused("match-over", "Every rematch of this match was aborted; create a new match.")


def _notify_others(ports: Ports, player: str, old: Match, new: Match) -> None:
    """Post the rematch to the other players of the old match, while it has not started."""
    if new.status == "open":
        others = {person for holder in old.seats if (person := _person(holder)) is not None}
        for other in sorted(others - {player} - new.players):
            ports.news.post(other, RematchAsked(new.id, old.id), ports.now())


def _with_bot(ports: Ports, made: Submitted, seat: Seat, bot: str, admit_bots: Admit | None) -> Submitted:
    """The match with a bot in a seat. The creator's command seats it, also if another player asks after a crash."""
    match = made.match
    if match.status != "open" or match.seats[seat] is not None:
        return made
    try:
        added = add_bot(ports, match.creator, match.id, f"rematch-{seat}", bot=bot, seat=seat, admit_bots=admit_bots)
    except Refused as refusal:
        if refusal.code not in {"seat-taken", "match-full", "match-not-open", *(_ABSENT if is_hosted(bot) else ())}:
            raise
    else:
        if not added.replayed:
            return added
        # The creator has freed the seat since, and the match after the first command is not the newest.
    return replace(made, match=ports.history.newest(match.id)[0])


def _seated(ports: Ports, player: str, match: Match, seat: Seat) -> Submitted:
    code = join_code_of(ports.secret, match.id)
    key = f"rematch-{match.head.version}"
    try:
        return join(ports, player, match.id, f"{key}-{seat}", seat=seat, join_code=code)
    except Refused as refusal:
        newest, _ = ports.history.newest(match.id)
        if refusal.code == "already-seated" or newest.seat_of(player) is not None:
            return Submitted(newest, replayed=True)
        if refusal.code != "seat-taken":
            raise
        return join(ports, player, match.id, f"{key}-any", join_code=code)


def _rotated(old: Match, seat: Seat) -> Seat:
    return (seat + 1) % len(old.seats)


def _seat_of(old: Match, player: str) -> Seat | None:
    """The seat that a person has, or had until a bot took it over."""
    return next((seat for seat, holder in enumerate(old.seats) if _person(holder) == player), None)


def _comes_along(old: Match, holder: SeatHolder) -> bool:
    """Whether the creator seats a bot again. In a rated match hosted bots take their seats themselves."""
    if holder.kind == "hosted":
        return old.created.rated is not True
    return holder.kind == "bot" and holder.former is None


def _person(holder: SeatHolder | None) -> str | None:
    """The person who has a seat, or had it until a bot took it over."""
    return holder.account if holder is not None and holder.account_kind == "human" else None

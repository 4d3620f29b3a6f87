"""A match of Monkeys on the Moon: a bot in seat 0, and Ben in seat 1, who left and can only watch."""

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from events.record import MatchId
from service.automation.bot_turns import advance
from service.games.protocol import Rng
from service.match.model import Match
from service.match.new_match import NewMatch
from service.match.randomness import Draws, bot_key
from service.repository.ports import Player, Ports
from service.usecases import accounts
from service.usecases.match_codes import join_code_of
from service.usecases.match_lifecycle import create, join, leave

SEED: Final = bytes(range(32))
"""The seed of the match and of its bot, so that every table plays the same moves."""


class Table(NamedTuple):
    """A running match, its creator without a seat and the player in seat 1, with their tokens."""

    match_id: MatchId
    anna: Player
    anna_token: str
    ben: Player
    ben_token: str
    chance_of: Callable[[int], Rng]

    def play(self, ports: Ports, moves: int = 1) -> Match:
        """Play up to this many turns of the bot, and return the match."""
        advance(ports, self.match_id, moves=moves, chance_of=self.chance_of)
        return ports.history.newest(self.match_id)[0]

    def finish(self, ports: Ports) -> Match:
        while advance(ports, self.match_id, moves=1000, chance_of=self.chance_of):
            pass
        return ports.history.newest(self.match_id)[0]


def set_table(ports: Ports, *, private: bool = False) -> Table:
    anna, anna_token = accounts.sign_up(ports, "Anna")
    ben, ben_token = accounts.sign_up(ports, "Ben")
    wanted = NewMatch(game="monkeys_on_the_moon", seats=2, bots=("random",), private=private)
    match = create(ports, anna.id, wanted, "create", seed=SEED).match
    join(ports, ben.id, match.id, "join", join_code=join_code_of(ports.secret, match.id))
    leave(ports, ben.id, match.id, "leave")
    chances = cache(lambda seat: Draws(lambda: bot_key(SEED, seat), {}))
    return Table(match.id, anna, anna_token, ben, ben_token, chances)

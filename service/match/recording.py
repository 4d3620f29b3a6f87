"""A match without a log: commands are decided, sealed into the chain and folded, and the match file is kept in memory."""

from collections.abc import Callable

from events.chain import genesis, seal
from service.games.protocol import AnyGame
from service.match.commands import Command
from service.match.decide import decide
from service.match.fold import begin, fold
from service.match.model import Match, MatchId


class Recording:
    """Records one match, command by command.

    `salt_of` gives the salt of each event by its version: 32 hex digits.
    """

    def __init__(self, match_id: MatchId, game: AnyGame, seed: bytes, salt_of: Callable[[int], str]) -> None:
        line, self._head = genesis(match_id, game.info.id, game.info.ruleset)
        self._game = game
        self._seed = seed
        self._salt_of = salt_of
        self._id = match_id
        self._match: Match | None = None
        self.lines = [line + b"\n"]
        """The lines of the match file so far, including newlines."""

    def carry_out(self, command: Command, at: int) -> Match:
        """Decide a command at a server time in milliseconds, append its events, and return the match after them.

        Raises:
            Refused, NotDue: as `service.match.decide.decide`.
        """
        drafts = decide(self._match, command, at, lambda: self._seed)
        salts = [self._salt_of(self._head.version + number) for number in range(1, len(drafts) + 1)]
        events, self._head = seal(self._head, drafts, at, salts)
        if self._match is None:
            self._match = fold(begin(self._id, events[0], {self._game.info.id: self._game}), events[1:])
        else:
            self._match = fold(self._match, events)
        self.lines += [event + b"\n" for event in events]
        return self._match

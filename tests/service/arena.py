"""A service in memory with a clock that the test sets, and a short method for each thing that players do."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final, ParamSpec

import msgspec
import pytest

from events.chain import NEWEST_FORMAT, Draft, seal
from events.log import Append, Appended, Conflict, LogUnavailable, Reused, Tail
from events.memory_log import MemoryLog
from events.record import Event, Head, MatchId, Version, canonical, digest
from service.adapters.beat import Span, covered
from service.adapters.local_limits import LocalLimits
from service.adapters.memory import (
    MemoryAccounts,
    MemoryBots,
    MemoryBotTasks,
    MemoryIndex,
    MemoryJobs,
    MemoryNews,
    MemoryRatings,
    MemorySeeks,
    MemoryTickets,
    MemoryWebhooks,
)
from service.automation.bot_turns import advance
from service.automation.deadlines import enforce
from service.errors import Refused
from service.games.monkeys_on_the_moon.game import GAME as MONKEYS
from service.games.protocol import AnyGame
from service.match.commands import SeenHead
from service.match.due_times import KINDS, due_times
from service.match.events import MatchClock
from service.match.fold import step
from service.match.model import Match
from service.match.new_match import NewMatch
from service.match.redaction import legal_actions
from service.repository.accounts import Player
from service.repository.bots import Bot
from service.repository.match_history import History
from service.repository.ports import Ports
from service.repository.signing import SigningKey
from service.usecases import match_codes, match_lifecycle, play
from service.usecases.play import ActionRequest
from service.usecases.submit import Submitted
from tests.service.games.toy.game import TOY

START: Final = 1_700_000_000_000
"""Server time in milliseconds at which a test begins."""

COUNTDOWN: Final = 1_000
TRICK: Final = 30_000
"""Milliseconds until a toy's trick opens, and until its timer."""
ENDLESS: Final = b'{"at":1,"by":"worker","data":' + b"[" * 100_000
"""The beginning of an event, but incomplete."""

P = ParamSpec("P")

Action = Mapping[str, Any]


class WatchedLog(MemoryLog):
    """A log that counts its round trips, calls a test's functions during an append, and can lose events."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.read_counts: list[int] = []
        """The number of events that each read returned, by match."""
        self.meanwhile: list[Callable[[], object]] = []
        """Functions to call before the next appends, one each."""
        self.afterwards: list[Callable[[], object]] = []
        """Functions to call after the next appends are written and before they return, one each."""

    def append(self, append: Append) -> Appended | Conflict | Reused:
        if self.meanwhile:
            self.meanwhile.pop(0)()
        self.calls.append("append")
        answer = super().append(append)
        if self.afterwards:
            self.afterwards.pop(0)()
        return answer

    def read(
        self, match: MatchId, *, first: Version | None = 1, last: Version | None = None, command: str | None = None
    ) -> Tail:
        self.calls.append("read")
        tail = super().read(match, first=first, last=last, command=command)
        self.read_counts.append(len(tail.events))
        return tail

    def read_each(self, firsts: Mapping[MatchId, Version | None]) -> Mapping[MatchId, Tail]:
        self.calls.append("read")
        tails = super().read_each(firsts)
        self.read_counts += [len(tail.events) for tail in tails.values()]
        return tails

    def seed(self, match: MatchId) -> bytes | None:
        self.calls.append("seed")
        return super().seed(match)

    def stored(self, match: MatchId) -> tuple[bytes, ...]:
        return super().read(match).events

    def contents(self) -> object:
        """The whole content of the log, for comparison."""
        return deepcopy({name: (one.events, one.commands, one.seed) for name, one in self._matches.items()}), dict(
            self._due
        )

    def rewrite(self, match: MatchId, events: Iterable[bytes]) -> None:
        """Replace the stored events."""
        known = self._matches[match]
        known.events[:] = events
        known.head = Head(len(known.events), digest(known.events[-1]))

    def lose(self, match: MatchId) -> None:
        del self._matches[match]

    def snapshots(self, match: MatchId) -> Mapping[Version, bytes]:
        return self._snapshots.get(match, {})

    def forget_snapshots(self) -> None:
        self._snapshots.clear()

    def forget_seed(self, match: MatchId, seed: bytes | None = None) -> None:
        self._matches[match].seed = seed


class Arena:
    """Players' ids are their names; `host` creates the matches and takes no seat."""

    def __init__(self, *games: AnyGame) -> None:
        self.time = START
        self.outages: list[Span] = []
        self.log = WatchedLog()
        self.jobs = MemoryJobs()
        self.index = MemoryIndex()
        self.format_number = NEWEST_FORMAT
        """The format of matches that are created."""
        self._keys = 0
        secret = bytes(range(32))
        hosted = {game.info.id: game for game in games or (TOY, MONKEYS)}
        self.ports = Ports(
            log=self.log,
            history=History(self.log, hosted, secret),
            accounts=MemoryAccounts(),
            bots=MemoryBots(),
            bot_tasks=MemoryBotTasks(),
            tickets=MemoryTickets(lambda: self.time),
            index=self.index,
            seeks=MemorySeeks(lambda: self.time, self.wake),
            news=MemoryNews(self.wake),
            ratings=MemoryRatings(),
            webhooks=MemoryWebhooks(self.log),
            jobs=self.jobs,
            limits=LocalLimits(),
            games=hosted,
            now=lambda: self.time,
            lost=lambda start, end, _: covered(self.outages, start, end),
            secret=secret,
        )

    def wake(self, key: str, number: int) -> None:
        """Wake the streams that follow a match or the news of a player; here there are none."""

    def wait(self, ms: int) -> None:
        self.time += ms

    def be_away(self, ms: int) -> None:
        """Let time pass in which the log is unavailable."""
        self.outages.append((self.time, self.time + ms))
        self.wait(ms)

    def new_key(self) -> str:
        self._keys += 1
        return f"key-{self._keys}"

    def create(
        self,
        game: str = "toy",
        seats: int = 2,
        *,
        by: str = "host",
        bots: tuple[str, ...] = (),
        turn_seconds: int | None = None,
        clock: Mapping[str, Any] | None = None,
        private: bool = False,
        manual_start: bool = False,
        key: str | None = None,
        options: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> MatchId:
        """Create a match. `more`: further fields of `NewMatch`."""
        given = {"turn_seconds": turn_seconds, "bot_pace_ms": 0 if bots else None, **(clock or {})}
        clock_fields = {name: value for name, value in given.items() if value is not None}
        wanted = NewMatch(
            game,
            seats,
            options or {},
            bots,
            MatchClock(**clock_fields) if clock_fields else None,
            private,
            manual_start,
        )
        wanted = msgspec.structs.replace(wanted, **{"format_number": self.format_number, **more})
        key = key or self.new_key()
        seed = hashlib.sha256(key.encode()).digest()
        return match_lifecycle.create(self.ports, by, wanted, key, seed=seed).match.id

    def host(self, bot: str = "bt_bot", owner: str = "owner", **settings: Any) -> str:
        known = Bot(bot, owner, self.time, tuple(self.ports.games), "", True, "everyone", 10, 5_000, SigningKey(bot))
        self.ports.accounts.add(Player(bot, bot.removeprefix("bt_"), self.time), bot)
        assert self.ports.bots.add(msgspec.structs.replace(known, **settings), 1_000)
        return bot

    def join(self, match_id: MatchId, *players: str, seed: str | None = None) -> MatchId:
        for player in players:
            match = self.match(match_id)
            code = match_codes.join_code_of(self.ports.secret, match.id)
            match_lifecycle.join(self.ports, player, match_id, self.new_key(), join_code=code, client_seed=seed)
        return match_id

    def toy(
        self, *players: str, turn_seconds: int | None = None, bots: tuple[str, ...] = (), **options: Any
    ) -> MatchId:
        """A toy match that has just started: bots in the lowest seats, then these players."""
        seats = len(players) + len(bots)
        return self.join(self.create("toy", seats, bots=bots, turn_seconds=turn_seconds, options=options), *players)

    def opened(self, *players: str, bots: tuple[str, ...] = (), **options: Any) -> MatchId:
        """A toy match whose first trick has just opened."""
        table = self.toy(*players, bots=bots, **options)
        self.wait(COUNTDOWN)
        return table

    def monkeys(self, *players: str, turn_seconds: int | None = None, bots: tuple[str, ...] = ()) -> MatchId:
        """A started match of Monkeys on the Moon."""
        seats = len(players) + len(bots)
        match_id = self.create("monkeys_on_the_moon", seats, bots=bots, turn_seconds=turn_seconds)
        return self.join(match_id, *players)

    def match(self, match_id: MatchId) -> Match:
        return self.ports.history.newest(match_id)[0]

    def version(self, match_id: MatchId) -> Version:
        return self.match(match_id).head.version

    def events(self, match_id: MatchId) -> list[Event]:
        return [msgspec.json.decode(stored, type=Event) for stored in self.log.stored(match_id)]

    def types(self, match_id: MatchId) -> list[str]:
        return [event.type for event in self.events(match_id)]

    def data(self, match_id: MatchId, version: Version = 0) -> dict[str, Any]:
        """The data of an event, by default of the newest."""
        found: dict[str, Any] = msgspec.json.decode(self.events(match_id)[version - 1].data)
        return found

    def legal(self, match_id: MatchId, player: str) -> list[dict[str, Any]]:
        match = self.match(match_id)
        return [msgspec.to_builtins(action) for action in legal_actions(match, match.seat_of(player))]

    def act(
        self,
        match_id: MatchId,
        player: str,
        action: Action | None = None,
        *,
        key: str | None = None,
        decision: str | None = None,
        seat: int | None = None,
        if_match: tuple[SeenHead, ...] | None = None,
    ) -> Submitted:
        """Take an action, by default the first legal one."""
        action = self.legal(match_id, player)[0] if action is None else action
        request = ActionRequest(action, seat, decision)
        return play.act(self.ports, player, match_id, request, key or self.new_key(), if_match)

    def leave(self, match_id: MatchId, player: str, key: str | None = None) -> Submitted:
        return match_lifecycle.leave(self.ports, player, match_id, key or self.new_key())

    def ring(self, match_id: MatchId) -> None:
        """Set the clock to the next deadline and enforce it."""
        first = self.match(match_id).first_due()
        assert first is not None
        assert first.enforced_at is not None
        self.time = max(self.time, first.enforced_at)
        enforce(self.ports, match_id)

    def work(self, match_id: MatchId) -> None:
        """Let the workers play everything that is due now."""
        while advance(self.ports, match_id):
            pass

    def play_out(self, match_id: MatchId) -> Match:
        """Play to the end: people take the first legal action; workers play bots and enforce deadlines."""
        while True:
            self.work(match_id)
            match = self.match(match_id)
            if match.status != "running":
                return match
            people = [(one.opens_at, player) for one in match.decisions() if (player := person(match, one.seat))]
            if people:
                opens_at, player = min(people)
                self.time = max(self.time, opens_at)
                self.act(match_id, player)
            else:
                self.time = max(self.time, self.log.next_due(KINDS) or 0)
                enforce(self.ports, match_id)


def with_bot(choose: Callable[..., Any]) -> Arena:
    """An arena whose games have a bot `custom` with this `choose` function."""
    bots = {"custom": choose}
    return Arena(replace(TOY, bots={**TOY.bots, **bots}), replace(MONKEYS, bots={**MONKEYS.bots, **bots}))


def one_more(match: Match, kind: str, data: Any, *, at: int | None = None) -> Match:
    """The match after one more event, which is not checked."""
    (stored,), _ = seal(match.head, [Draft(kind, "worker", canonical(data))], at or match.at, ["0" * 32])
    return step(match, stored)


def unavailable() -> None:
    """The log does not answer."""
    raise LogUnavailable("unavailable")


def person(match: Match, seat: int) -> str | None:
    """The player of a seat, if it is a person who has not left."""
    holder = match.seats[seat] if seat >= 0 else None
    return holder.player if holder is not None and holder.kind == "human" and not holder.resigned else None


def refused(code: str, act: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> Refused:
    """The refusal that a call raises."""
    with pytest.raises(Refused) as caught:
        act(*args, **kwargs)
    assert caught.value.code == code, caught.value
    return caught.value


def due_kinds(match: Match, after: int = -1) -> list[str]:
    """The kinds of due entries that a match has."""
    return [kind for kind, at in due_times(match, after).items() if at is not None]

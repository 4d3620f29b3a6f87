"""The real app on real servers, with a clock that the test sets, and matches with the two histories of a pair."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from api.app import create_app
from events.chain import genesis, seal
from events.log import Append
from events.record import Event, MatchId, digest
from service.adapters.accounts import RedisAccounts
from service.adapters.local_limits import LocalLimits
from service.container import Service, build
from service.games.protocol import AnyGame, Task
from service.games.registry import GAMES
from service.games.visibility import Seat
from service.match.due_times import due_times
from service.match.events import MatchClock
from service.match.fold import fold
from service.match.model import Match
from service.match.new_match import NewMatch
from service.repository.match_history import History
from service.repository.ports import Player, digest_of
from service.settings import read
from service.usecases import accounts, hosted_bots, match_index
from service.usecases.hosted_bots import BotSettings
from service.usecases.match_codes import join_code_of
from service.usecases.match_lifecycle import add_bot, create, join
from tests.api.checked import MANY
from tests.api.worlds import Pair, Step
from tests.service.games.matches import Table
from tests.service.games.toy.game import TOY

RECORDING_BOT: Final = "recorder"
"""A bot that records its input."""
_WORDS: Final = re.compile(rb"[0-9a-z]{10,64}")


class Person(NamedTuple):
    player: Player
    token: str


@dataclass
class World:
    """A match as the log has it.

    No viewer may see any of the texts in `hidden`. `common` are the salts of events that are the same in both worlds.
    """

    table: Table
    id: MatchId
    hidden: tuple[bytes, ...]
    events: tuple[bytes, ...] = ()
    common: frozenset[str] = frozenset()

    @property
    def path(self) -> str:
        return f"/v1/matches/{self.id}"

    @property
    def version(self) -> int:
        return len(self.events)

    def head(self, version: int) -> str:
        info = self.table.game.info
        return digest(self.events[version - 1]) if version else genesis(self.id, info.id, info.ruleset)[1].hash

    def etag(self, version: int) -> str:
        return f'"{version}-{self.head(version)[:16]}"'

    def masks(self) -> Mapping[bytes, bytes]:
        """What is unique to this match (id, hashes of events and seed, common salts), each with a name of the same length."""
        created = msgspec.json.decode(msgspec.json.decode(self.events[0], type=Event).data)
        known = {self.id: "match", created["seed_commitment"]: "seed"}
        for version in range(self.version + 1):
            hash_ = self.head(version)
            known |= {hash_: f"hash{version}", hash_[:16]: f"start{version}"}
        known |= dict.fromkeys(self.common, "salt")
        return {found.encode(): name.ljust(len(found), "-").encode() for found, name in known.items()}


def mask(text: bytes, masks: Mapping[bytes, bytes]) -> bytes:
    return _WORDS.sub(lambda found: masks.get(found[0], found[0]), text)


class WorldSetup:
    """Hosts all games and the toy, each with a recording bot; has a creator, a stranger, and players for the seats."""

    def __init__(self, service: Service, games: Mapping[str, AnyGame] = GAMES) -> None:
        self.time = 1
        self.tasks: list[bytes] = []
        self.service = service
        hosted = {
            name: self._with_recording_bot(game) for name, game in {**games, "toy": games.get("toy", TOY)}.items()
        }
        log, stored = service.ports.log, RedisAccounts(service.log_client)
        # No other process changes accounts, so they are cached like those of a process that hears of changes.
        stored.cache.messages_missed()
        # Limits over all processes depend on how many others run, and another thread stores when tokens were used.
        self.ports = replace(
            service.ports,
            games=hosted,
            history=History(log, hosted, service.ports.secret),
            now=lambda: self.time,
            limits=LocalLimits(),
            accounts=stored,
        )
        self.app = create_app(replace(service, ports=self.ports))
        self.creator, self.stranger = self._person("Creator"), self._person("Passer-by")
        self.people: list[Person] = []
        self._created = 0

    def _with_recording_bot(self, game: AnyGame) -> AnyGame:
        def choose(task: Task[Any, Any], rng: Any) -> Any:
            self.tasks.append(msgspec.json.encode(task))
            return game.bots["greedy"](task, rng)

        return replace(game, bots={**game.bots, RECORDING_BOT: choose})

    def _person(self, name: str) -> Person:
        return Person(*accounts.sign_up(self.ports, name))

    def hosted_bot(self) -> tuple[Person, Person]:
        """A new hosted bot that is called and that everyone may seat, and its owner."""
        owner = self._person("Owner")
        settings = BotSettings(name="Deep", seating="everyone", url="https://moon.example/")
        bot, token, _ = hosted_bots.create(self.ports, owner.player, settings)
        return Person(self.ports.accounts.players((bot.id,))[bot.id], token), owner

    def create_pair(
        self, pair: Pair, *, bot: Seat | None = None, name: str = RECORDING_BOT, private: bool = False
    ) -> tuple[World, World]:
        """Create both matches of a pair, with new players and, if `bot` is a seat, a bot there: the recording or a hosted one.

        They are the newest matches in every list. Afterwards the clock shows the time of their last events.
        """
        self._created += 1
        self.time = self._created
        self.people = [self._person(f"Seat {seat}") for seat in range(pair.table.seats)]
        seated = None if bot is None else (bot, name)
        here = self._create_world(pair.table, pair.here, f"{self._created} here", seated, private)
        there = self._create_world(pair.table, pair.there, f"{self._created} there", seated, private)
        self.refresh(here, there)
        return here, there

    def _create_world(
        self, table: Table, steps: Sequence[Step], name: str, bot: tuple[Seat, str] | None, private: bool
    ) -> World:
        self.time = self._created
        pace = None if bot is None else MatchClock(bot_pace_ms=0)
        wanted = NewMatch(
            table.game.info.id, table.seats, table.options, clock=pace, private=private, manual_start=True
        )
        creator, seed = self.creator.player.id, hashlib.sha256(name.encode()).digest()
        match = create(self.ports, creator, wanted, f"create {name}", seed=seed).match
        for seat in range(table.seats):
            if bot is not None and seat == bot[0]:
                add_bot(self.ports, creator, match.id, "bot", bot=bot[1], seat=seat)
            else:
                code = join_code_of(self.ports.secret, match.id)
                join(self.ports, self.people[seat].player.id, match.id, f"join {seat}", seat=seat, join_code=code)
        match, _ = self.ports.history.newest(match.id)
        for first in range(0, len(steps), 50):
            match = self._append(match, steps[first : first + 50])
        match_index.update_index(self.ports, match)
        self.time = steps[-1].at
        return World(table, match.id, (seed.hex().encode(), *self._secrets(), *_hidden_times(table, steps)))

    def _secrets(self) -> Iterator[bytes]:
        for person in (self.creator, self.stranger, *self.people):
            yield from (person.token.encode(), digest_of(person.token).encode())

    def _append(self, match: Match, steps: Sequence[Step]) -> Match:
        head = match.head
        events: list[bytes] = []
        for step in steps:
            draft = step.draft()
            # An event that is the same in both worlds has the same salt; other events have other salts, which no viewer may see.
            stored, head = seal(head, [draft], step.at, [hashlib.sha256(draft.data).hexdigest()[:32]])
            events += stored
        after = fold(match, events)
        command = f"history {match.head.version}"
        self.ports.log.append(Append(match.id, command, "history", match.head, tuple(events), due_times(after)))
        return after

    def match(self, world: World) -> Match:
        return self.ports.history.newest(world.id)[0]

    def refresh(self, *worlds: World) -> None:
        """Read the events of the worlds of a pair again.

        Salts are masked only where the events are the same: no viewer may see the others.
        """
        for world in worlds:
            world.events = self.ports.log.read(world.id).events
        masks = [world.masks() for world in worlds]
        for stored in zip(*(world.events for world in worlds), strict=True):
            events = [msgspec.json.decode(event, type=Event) for event in stored]
            if len({mask(bytes(event.data), known) for event, known in zip(events, masks, strict=True)}) == 1:
                for world, event in zip(worlds, events, strict=True):
                    world.common |= {event.salt}


def _hidden_times(table: Table, steps: Sequence[Step]) -> Iterator[bytes]:
    """Deadlines that no viewer may see. One at which a bell rang is left out, because that event shows its time."""
    hides = any("deadline" in effect.hidden for effect in table.game.info.effects)
    if hides and table.options.get("timer_visible") is False:
        yield from {str(at).encode() for at in {step.state.deadline for step in steps} - {step.at for step in steps}}


def environment(log_url: str, queue_url: str, data_dir: Path) -> Mapping[str, str]:
    """Settings of a service on these servers, without limits."""
    limits = ("REQUESTS_BY_TOKEN", "MOVES_BY_TOKEN", "REQUESTS_BY_ADDRESS", "SIGN_UPS_BY_ADDRESS")
    stores = {"LOG_URL": log_url, "QUEUE_URL": queue_url, "DATA_DIR": str(data_dir)}
    return {f"MOONSTONE_{name}": value for name, value in {**stores, **dict.fromkeys(limits, str(MANY))}.items()}


@contextmanager
def served(environ: Mapping[str, str]) -> Iterator[Service]:
    service = build(read(environ))
    try:
        yield service
    finally:
        service.close()

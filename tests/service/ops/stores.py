"""A log in use by the operator's commands."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

from redis import Redis, RedisCluster

from events.chain import Draft, seal
from service.adapters import backup as backups
from service.automation.bot_turns import advance
from service.container import build
from service.match.model import Match
from service.match.new_match import NewMatch
from service.ops import maintenance
from service.repository.ports import Ports
from service.settings import read
from service.usecases.match_lifecycle import create

GAME = "monkeys_on_the_moon"


@dataclass
class Store:
    """A log in use, the environment that names it, and the messages of commands."""

    environ: dict[str, str]
    client: Redis | RedisCluster
    ports: Ports
    messages: list[str] = field(default_factory=list)

    def check(self) -> bool:
        self.messages.clear()
        return maintenance.check(self.environ, self.messages.append)

    def bots(self, *, over: bool = False) -> Match:
        wanted = NewMatch(game=GAME, seats=2, bots=("random", "random"))
        match = create(self.ports, "pl_a", wanted, token_hex(4)).match
        while over and advance(self.ports, match.id):
            pass
        return self.newest(match)

    def newest(self, match: Match) -> Match:
        return self.ports.history.newest(match.id)[0]

    def key(self, match: Match) -> str:
        (key,) = (key for key in backups.match_keys(self.client) if backups.match_id(key) == match.id)
        return key.decode()


def open_store(environ: dict[str, str], stack: ExitStack) -> Store:
    service = build(read(environ), listen=False)
    stack.callback(service.close)
    return Store(environ, service.log_client, service.ports)


def backed_up(store: Store, folder: Path) -> Path:
    maintenance.backup(store.environ, folder / "backup", store.messages.append)
    return folder / "backup"


def reseal(store: Store, match: Match, last: Draft) -> None:
    """Replace the last event by another one, with a valid chain."""
    key = store.key(match)
    stored = store.ports.log.read(match.id).events
    before = store.ports.history.at(match.id, match.head.version - 1).head
    (sealed,), head = seal(before, [last], match.at, ["0" * 32])
    store.client.xtrim(f"{key}:events", maxlen=0, approximate=False)
    store.client.delete(f"{key}:events")
    for version, event in enumerate((*stored[:-1], sealed), 1):
        store.client.xadd(f"{key}:events", {"e": event, "h": head.hash}, id=f"{version}-0")

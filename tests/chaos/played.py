"""A match of two people over the API of this process, on a log that a test breaks, and checks of its events."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from redis import Redis
from werkzeug.test import TestResponse

from events.chain import follow, genesis
from events.record import Event
from events.redis_log import send
from service.adapters.valkey import Valkey
from service.container import Service, build
from service.settings import read
from tests.api.checked import MANY, Client
from tests.api.conftest import problem

Json: TypeAlias = dict[str, Any]

GAME: Final = "ape_town"
RULESET: Final = 1


@dataclass(slots=True)
class Played:
    """`match` and `other` are matches of the same two people; `acknowledged` has the versions of all receipts of `match`."""

    log: Valkey
    service: Service
    client: Client
    tokens: tuple[str, ...]
    match: str
    other: str
    acknowledged: list[int] = field(default_factory=list)

    @property
    def redis(self) -> Redis:
        """The client with which the service uses its log."""
        assert isinstance(self.service.log_client, Redis)
        return self.service.log_client

    def stored_keys(self) -> list[str]:
        """All stored events of the match."""
        (found,) = send(self.redis, ("KEYS", f"match:*:{self.match}:*"))
        return sorted(key.decode() for key in found)

    @property
    def path(self) -> str:
        return f"/v1/matches/{self.match}"

    def turn(self, match: str | None = None) -> tuple[str, Json]:
        """The token of the player to move, and a body with a legal action."""
        path = f"/v1/matches/{match or self.match}"
        seat = self.client.ask(path)["decisions"][0]["seat"]
        legal = self.client.ask(f"{path}/legal-actions", self.tokens[seat])["actions"]
        return self.tokens[seat], {"action": legal[0]}

    def send(self, turn: tuple[str, Json], key: str) -> TestResponse:
        token, body = turn
        return self.client.post(f"{self.path}/actions", body, token, idempotency_key=key)

    def accepted(self, turn: tuple[str, Json], key: str) -> TestResponse:
        """Send an action that must be accepted; return its receipt."""
        answer = self.send(turn, key)
        assert answer.status_code == 201, answer.get_data(as_text=True)
        self.acknowledged.append(answer.get_json()["version"])
        return answer

    def act(self, key: str) -> None:
        self.accepted(self.turn(), key)

    def refused(self, turn: tuple[str, Json], key: str) -> str:
        """Send an action that must get a 503 with Retry-After (I5); return its code."""
        answer = self.send(turn, key)
        status, code, _ = problem(answer)
        assert status == 503
        assert int(answer.headers["Retry-After"]) > 0
        return code

    def checked_events(self) -> list[Event]:
        """The events of the match.

        Checks the chain (I3), and that its actions are the acknowledged ones at their versions (I1) and no others (I2).
        """
        _, head = genesis(self.match, GAME, RULESET)
        events = []
        for stored in self.service.ports.log.read(self.match).events:
            event, head = follow(head, stored)
            events.append(event)
        assert [event.version for event in events if event.type == "action"] == sorted(set(self.acknowledged))
        return events


@contextmanager
def playing(log: Valkey, queue_url: str, data_dir: Path) -> Iterator[Played]:
    environ = {
        "LOG_URL": log.url,
        "QUEUE_URL": queue_url,
        "DATA_DIR": str(data_dir),
        "REQUESTS_BY_ADDRESS": str(MANY),
        "REQUESTS_BY_TOKEN": str(MANY),
        "MOVES_BY_TOKEN": str(MANY),
        "SIGN_UPS_BY_ADDRESS": str(MANY),
        "CREATIONS_BY_ADDRESS": str(MANY),
    }
    service = build(read({f"MOONSTONE_{name}": value for name, value in environ.items()}))
    client = Client(service)
    tokens = tuple(client.sign_up(name) for name in ("Ada", "Ben"))
    matches = []
    for number in range(2):
        made = client.do("/v1/matches", {"game": GAME, "seats": 2}, tokens[0], idempotency_key=f"create-{number}")
        for token in tokens:
            client.do(f"/v1/matches/{made['id']}/seats", {}, token)
        matches.append(made["id"])
    yield Played(log, service, client, tokens, *matches)
    service.close()

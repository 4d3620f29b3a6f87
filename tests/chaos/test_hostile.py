"""Random hostile requests to a running server get no 5xx but 503, change nothing, and do not hang."""

import re
import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from redis import Redis

from service.adapters.limits_store import PROCESSES
from service.adapters.queue_health import PROBE
from service.adapters.valkey import Valkey
from tests.api import live
from tests.api.checked import MANY, UNLIMITED
from tests.chaos.hostile import Attack, Attacker, Target
from tests.length import LENGTH

REQUESTS: Final = 500 * LENGTH
SEED: Final = 1
TIMEOUT_S: Final = 12.0
"""The server closes every connection within this time: it waits five seconds for a body and five for the next request."""
CLIENTS: Final = 8
MAX_LINGERING: Final = 40
"""Maximum number of silent connections that are kept open."""
CHECK_EVERY: Final = 50
RESET: Final = struct.pack("ii", 1, 0)

ANSWER: Final = re.compile(rb"HTTP/1\.[01] (\d{3}) [^\r]*\r\n(.*?)\r\n\r\n", re.DOTALL)


class AttackedServer:
    """A running server with two matches, and a client that sends attacks."""

    def __init__(self, server: live.Server, stores: tuple[Redis, ...]) -> None:
        self._server = server
        self._stores = stores
        # A new connection for each request: the server may close an idle one just when it is used again.
        no_reuse = httpx.Limits(max_keepalive_connections=0)
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=TIMEOUT_S, limits=no_reuse)
        self._lingering: deque[socket.socket] = deque()
        self.statuses: Counter[str] = Counter()
        ada, ben, eve = (self._post("/v1/players", {"name": name})["token"] for name in ("Ada", "Ben", "Eve"))
        running, waiting = (self._post("/v1/matches", {"game": "ape_town", "seats": 2}, ada)["id"] for _ in range(2))
        self._path = f"/v1/matches/{running}"
        for token in (ada, ben):
            self._post(f"{self._path}/seats", {}, token)
        seat = self._get(self._path, ada)["decisions"][0]["seat"]
        self._mover = (ada, ben)[seat]
        legal = self._get(f"{self._path}/legal-actions", self._mover)["actions"][0]
        self._good_action = {"action": legal}
        matches = "/v1/matches/{match_id}"
        self.target = Target(
            names={
                "match_id": (running, running, waiting, "x", running[:-1]),
                "game": ("ape_town", "four_monkeys", "x"),
                "code": ("match-full", "x"),
                "player": ("pl_nobody", "x"),
                "seek_id": ("x",),
                "token_id": ("x", "tk_none"),
                "webhook_id": ("x", "wh_none"),
                "bot_id": ("x", "bt_none"),
                "notice": ("x",),
            },
            tokens=(ada, ben, eve, "", eve[:-1] + "_"),
            bodies={
                "POST /v1/players": {"name": "Mallory"},
                "POST /v1/me/webhooks": {"url": "https://10.0.0.1/"},
                "POST /v1/me/bots": {"name": "Mallory's", "url": "https://moon.example/"},
                "POST /v1/matches": {"game": "ape_town", "seats": 2, "bots": ["random"], "clock": {"turn_seconds": 60}},
                f"POST {matches}/actions": {"action": legal, "seat": seat},
                f"POST {matches}/seats": {"client_seed": "luck"},
                f"POST {matches}/bots": {"bot": "random"},
            },
            running=running,
            stranger=eve,
        )

    def _post(self, path: str, body: object, token: str = "") -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self._http.post(path, json=body, headers=headers).raise_for_status().json()

    def _get(self, path: str, token: str = "") -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self._http.get(path, headers=headers).raise_for_status().json()

    def contents(self) -> object:
        """The content of both servers, except last uses of tokens, open streams, and what processes write by themselves."""
        return [
            {
                key: store.dump(key)
                for key in sorted(map(bytes, store.scan_iter()))
                if key not in {PROBE.encode(), PROCESSES.encode()} and not key.startswith((b"uses:", b"streams:"))
            }
            for store in self._stores
        ]

    def serves(self) -> bool:
        return bool(self._get(self._path)["status"] == "running")

    def accepts_a_good_action(self) -> bool:
        return bool(self._post(f"{self._path}/actions", self._good_action, self._mover)["version"])

    def send(self, attack: Attack) -> str | None:
        """Send an attack; returns what is wrong with the answer."""
        began = time.monotonic()
        client = socket.create_connection(("127.0.0.1", self._server.port), TIMEOUT_S)
        received = bytearray()
        try:
            self._exchange(client, attack, received)
        except TimeoutError:
            return f"the server has not ended the connection after {time.monotonic() - began:.1f} s: {bytes(received[:200])!r}"
        except OSError:
            pass  # the server has closed the connection
        finally:
            if client not in self._lingering:
                client.close()
        if received and not received.startswith(b"HTTP/1."):
            return f"the answer is not HTTP: {bytes(received[:80])!r}"
        for status, head in ANSWER.findall(received):
            self.statuses[f"{attack.kind} {status.decode()[0]}xx"] += 1
            if status >= b"500" and status != b"503":
                return f"the status is {status.decode()}"
            if status >= b"400" and b"application/problem+json" not in head:
                return f"the {status.decode()} has no problem document: {head!r}"
        return None

    def _exchange(self, client: socket.socket, attack: Attack, received: bytearray) -> None:
        for piece in attack.pieces:
            client.sendall(piece)
            if len(attack.pieces) > 1:
                time.sleep(0.002)  # so that they arrive separately
        match attack.then:
            case "closes":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            case "lingers":
                self._lingering.append(client)
                while len(self._lingering) > MAX_LINGERING:
                    self._lingering.popleft().close()
            case _:
                client.shutdown(socket.SHUT_WR)
                while piece := client.recv(65_536):
                    received += piece

    def close(self) -> None:
        for client in self._lingering:
            client.close()
        self._http.close()


@pytest.fixture
def tested(tmp_path: Path) -> Iterator[AttackedServer]:
    with ExitStack() as stack:
        log = stack.enter_context(Valkey.start(tmp_path / "log", durable=True))
        queue = stack.enter_context(Valkey.start(tmp_path / "queue", durable=False))
        environ = {"LOG_URL": log.url, "QUEUE_URL": queue.url, "DATA_DIR": str(tmp_path / "data")}
        environ |= {name.upper(): str(MANY) for name in UNLIMITED}
        server = stack.enter_context(live.serving({f"MOONSTONE_{name}": value for name, value in environ.items()}))
        stores = tuple(stack.enter_context(Redis.from_url(one.url, protocol=2)) for one in (log, queue))
        tested_server = AttackedServer(server, stores)
        workers = server.workers
        yield tested_server
        tested_server.close()
        assert server.workers == workers


@pytest.mark.long
def test_hostile_requests_get_no_5xx_change_nothing_and_do_not_hang(tested: AttackedServer) -> None:
    attacker = Attacker(tested.target, SEED)
    before = tested.contents()

    def attack_number(number: int) -> str | None:
        attack = attacker.attack(number)
        fault = tested.send(attack)
        if not fault and number % CHECK_EVERY == 0 and not tested.serves():
            fault = "the server no longer serves other clients"
        return fault and f"{number} ({attack.kind}, {attack.then}): {fault}\n  {attack.sent[:600]!r}"

    with ThreadPoolExecutor(CLIENTS) as clients:
        faults = [fault for fault in clients.map(attack_number, range(REQUESTS)) if fault]
    assert not faults, "\n".join(faults[:20])
    assert tested.contents() == before
    assert tested.accepts_a_good_action()
    assert {name.split()[0] for name in tested.statuses} >= {"damaged", "field", "header", "query", "framing", "slow"}


def test_an_attack_depends_only_on_the_seed_and_its_number() -> None:
    bodies = {f"POST /v1/matches/{{match_id}}/{end}": {"action": {"type": "pass"}} for end in ("actions", "seats")}
    target = Target(
        dict.fromkeys(
            ("match_id", "game", "code", "player", "seek_id", "token_id", "webhook_id", "notice", "bot_id"), ("x",)
        )
        | {"match_id": ("m",)},
        ("t",),
        bodies,
        "m",
        "t",
    )
    made = [[Attacker(target, SEED).attack(number) for number in range(300)] for _ in range(2)]
    assert made[0] == made[1]
    assert len({attack.kind for attack in made[0]}) == 11

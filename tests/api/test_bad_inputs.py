"""Every invalid request gets its documented problem with the position of the fault, at once, and changes nothing."""

import io
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import pytest
from redis import Redis, RedisCluster
from werkzeug.test import TestResponse

from service.container import Service, build
from service.settings import read
from tests.api.bad_inputs import GAMES, NOTHING, Case, Edit, cases
from tests.api.checked import MANY, UNLIMITED, Client, reference, validator
from tests.api.conftest import problem
from tests.api.counts import forget

OPERATIONS: Final = tuple(
    f"{verb.upper()} {path}" for path, verbs in reference()["paths"].items() for verb in verbs if verb != "parameters"
)
PROBLEM: Final = validator(reference()["components"]["schemas"]["Problem"])
Contents: TypeAlias = Mapping[bytes | str, tuple[bytes, bool]]
"""Each key of a server with its dump, and whether it expires."""
LARGEST: Final = 4096
"""Maximum size of a response in bytes, for requests of any length."""
LONGEST: Final = 0.1
"""Seconds."""
MARK: Final = "\x00"


@pytest.fixture(scope="module")
def service(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    environ = {
        "LOG_URL": valkey_log_url,
        "QUEUE_URL": valkey_queue_url,
        "DATA_DIR": str(tmp_path_factory.mktemp("data")),
        **{name.upper(): str(MANY) for name in UNLIMITED},
    }
    with Redis.from_url(valkey_log_url) as log:
        log.flushall()  # tests of other things may have left theirs
    built = build(read({f"MOONSTONE_{name}": value for name, value in environ.items()}))
    yield built
    built.close()


class World:
    """A running match of each game, whose seats are two people's, and one that waits for its second player."""

    def __init__(self, service: Service) -> None:
        self.client = Client(service, hasty=True)
        self._http = self.client.app.test_client()
        self._servers = (service.log_client, service.queue_client)
        self.tokens = [self.client.sign_up(name) for name in ("Ada", "Ben")]
        self.player = self.client.ask("/v1/me", self.tokens[0])["id"]
        self.matches = {game: self._started(game) for game in GAMES}
        self.open = self._made("ape_town", manual_start=True)

    def _made(self, game: str, **wanted: object) -> str:
        made: str = self.client.do("/v1/matches", {"game": game, "seats": 2, **wanted}, self.tokens[0])["id"]
        return made

    def _started(self, game: str) -> str:
        match = self._made(
            game, options={"countdown_seconds": 0, "round_seconds": 600} if game == "four_monkeys" else {}
        )
        for token in self.tokens:
            self.client.do(f"/v1/matches/{match}/seats", {}, token)
        return match

    @cache  # noqa: B019  (it ends with its tests)
    def _good(self, operation: str, game: str) -> tuple[str, str, Any]:
        """The match, the token and the body of a request of an operation that would be answered with success."""
        running = self.matches[game]
        match operation:
            case "POST /v1/players":
                return running, self.tokens[0], {"name": "Eve"}
            case "POST /v1/matches":
                wanted = {"game": "ape_town", "seats": 2, "bots": ["random"], "clock": {"bot_pace_ms": 60}}
                return running, self.tokens[0], wanted
            case "POST /v1/matches/{match_id}/seats":
                return self.open, self.tokens[1], {"client_seed": "luck"}
            case "POST /v1/matches/{match_id}/bots":
                return self.open, self.tokens[0], {"bot": "random"}
            case "POST /v1/matches/{match_id}/free":
                return self.open, self.tokens[0], {"seat": 0}
            case "POST /v1/matches/{match_id}/leave":
                return running, self.tokens[0], {"only": "open"}
            case "POST /v1/matches/{match_id}/replace":
                return running, self.tokens[0], {"seat": 1}
            case "POST /v1/seeks":
                return running, self.tokens[1], {"game": "ape_town", "seats": 2, "expires_in": 60}
            case "POST /v1/matches/{match_id}/invitations":
                return self.open, self.tokens[0], {"expires_in": 60}
            case "POST /v1/matches/{match_id}/start":
                return self.open, self.tokens[0], None
            case "POST /v1/matches/{match_id}/actions":
                view = self.client.ask(f"/v1/matches/{running}", self.tokens[0])
                seat = next(one["seat"] for one in view["decisions"] if one["seat"] >= 0)
                legal = self.client.ask(f"/v1/matches/{running}/legal-actions", self.tokens[seat])["actions"][0]
                return running, self.tokens[seat], {"action": legal}
        return running, self.tokens[0], None

    def fault(self, case: Case) -> str | None:
        """The faults of the response to a case."""
        response, seconds = self._send(case)
        if seconds > LONGEST:  # the machine may have been busy
            seconds = min(self._send(case)[1] for _ in range(3))
        if seconds > LONGEST:
            return f"it took {seconds * 1000:.0f} ms"
        if response.status_code < 400:
            return f"it is answered {response.status_code}"
        if len(response.get_data()) > LARGEST:
            return f"it is answered with {len(response.get_data())} bytes"
        status, code, document = problem(response)
        if code not in case.codes:
            return f"{code}: {document['detail']} {document.get('errors')}"
        method, _, path = case.operation.partition(" ")
        told = reference()["paths"][path][method.lower()]["responses"]
        if f"`{code}`" not in told.get(str(status), {}).get("description", ""):
            return f"{status} {code} is not in the reference"
        PROBLEM.validate(document)
        found = [error.get("pointer", error.get("parameter")) for error in document.get("errors", ())]
        if case.where is None or any(one == case.where or one.startswith(f"{case.where}/") for one in found):
            return None
        return f"{code} points at {found}"

    def _send(self, case: Case) -> tuple[TestResponse, float]:
        """The answer, and the seconds that it took."""
        method, _, path = case.operation.partition(" ")
        match, token, body = self._good(case.operation, case.game)
        path = path.format(
            **{
                "match_id": match,
                "game": case.game,
                "code": "match-full",
                "player": self.player,
                "seek_id": "none",
                **case.names,
            }
        )
        data = written(body, case.body) if isinstance(case.body, tuple) else case.body
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **case.headers}
        sent = {name: value for name, value in headers.items() if value is not None}
        forget(self.client.container.ports.limits)
        # The client leaves the length out where bytes are none, but not where a stream is empty.
        stream = None if data is None else io.BytesIO(data)
        began = time.perf_counter()
        query = _with_required(case, match)
        response = self._http.open(path, query_string=query, method=method, data=stream, headers=sent)
        response.get_data()
        return response, time.perf_counter() - began

    def contents(self) -> list[Contents]:
        """The contents of both servers."""
        return [_contents(server) for server in self._servers]


def _with_required(case: Case, match: str) -> str:
    """The query of a case with the parameters that its operation requires, each of which takes a match."""
    method, _, path = case.operation.partition(" ")
    told = reference()["paths"][path][method.lower()].get("parameters", ())
    names = [one["name"] for one in told if one["in"] == "query" and one.get("required")]
    lacking = [name for name in names if case.query != NOTHING and f"{name}=" not in case.query]
    return "&".join([case.query, *(f"{name}={match}" for name in lacking)]).lstrip("&")


def _contents(server: Redis | RedisCluster) -> Contents:
    # A request with a bad input counts in the limits like any other.
    counts = re.compile(b"limit:|api:processes")
    keys = sorted(key for key in map(bytes, server.scan_iter()) if not counts.match(key))
    with server.pipeline() as asked:
        for key in keys:
            asked.dump(key)
            asked.pttl(key)
        found = asked.execute()
    return {key: (found[2 * at], found[2 * at + 1] >= 0) for at, key in enumerate(keys)}


def changed(before: Sequence[Contents], after: Sequence[Contents]) -> Sequence[bytes | str]:
    """The keys that were added, altered or removed, without those that may have expired."""
    return [
        key
        for old, new in zip(before, after, strict=True)
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key) and not (key not in new and old[key][1])
    ]


@pytest.fixture(scope="module")
def world(service: Service) -> World:
    return World(service)


def written(body: Any, edits: tuple[Edit, ...]) -> bytes | None:
    """A body with raw text at some places."""
    if body is None:
        return None
    body = json.loads(json.dumps(body))
    texts: list[str] = []
    for place, text in edits:
        target = body
        for step in place[:-1]:
            target = target.setdefault(step, {}) if isinstance(step, str) else target[step]
        if text is None:
            del target[place[-1]]
        else:
            target[place[-1]] = f"{MARK}{len(texts)}"
            texts.append(text)
    whole = json.dumps(body)
    for number, text in enumerate(texts):
        whole = whole.replace(json.dumps(f"{MARK}{number}"), text)
    return whole.encode()


def test_there_are_hundreds_and_every_operation_has_some() -> None:
    assert len(cases()) >= 300
    assert {case.operation for case in cases()} == set(OPERATIONS)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_bad_input_gets_its_problem_at_once_and_changes_nothing(world: World, operation: str) -> None:
    before = world.contents()
    faults = []
    for case in (case for case in cases() if case.operation == operation):
        fault = world.fault(case)
        after = world.contents()
        if keys := changed(before, after):
            fault, before = f"{keys} changed", after
        if fault:
            faults.append(f"{case.fault}: {fault}")
    assert not faults, "\n".join((f"{len(faults)} of {operation}", *faults))

"""Every invalid request gets its documented problem with the position of the fault immediately, and changes nothing."""

import io
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import pytest
from redis import Redis
from werkzeug.test import TestResponse

from service.container import Service, build
from service.settings import read
from tests.api.bad_inputs import GAMES, NO_PARAMETERS, Case, Edit, cases
from tests.api.checked import MANY, UNLIMITED, Client, reference, validator
from tests.api.conftest import problem

OPERATIONS: Final = tuple(
    f"{verb.upper()} {path}" for path, verbs in reference()["paths"].items() for verb in verbs if verb != "parameters"
)
PROBLEM: Final = validator(reference()["components"]["schemas"]["Problem"])
Contents: TypeAlias = Mapping[bytes, tuple[bytes, bool]]
"""For each key of a server: a digest of its value, and whether it expires."""
CONTENTS: Final = """
local found = {}
for at, key in ipairs(redis.call('KEYS', '*')) do
  found[at] = {key, redis.sha1hex(redis.call('DUMP', key)), redis.call('PTTL', key) >= 0 and 1 or 0}
end
return found
"""
"""A script that reads all contents of a server at once."""
LARGEST: Final = 4096
"""Maximum size of a response in bytes, for requests of any length."""
LONGEST_S: Final = 0.1
"""Maximum time of a response."""
MARKER: Final = "\x00"


@pytest.fixture(scope="module")
def service(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    environ = {
        "LOG_URL": valkey_log_url,
        "QUEUE_URL": valkey_queue_url,
        "DATA_DIR": str(tmp_path_factory.mktemp("data")),
        **{name.upper(): str(MANY) for name in UNLIMITED},
    }
    with Redis.from_url(valkey_log_url) as log:
        log.flushall()  # remove the keys of other tests
    built = build(read({f"MOONSTONE_{name}": value for name, value in environ.items()}))
    yield built
    built.close()


class World:
    """A running match of two players for each game, and one that waits for its second player."""

    def __init__(self, service: Service) -> None:
        self.client = Client(service, unchecked=True)
        self._http = self.client.app.test_client()
        assert isinstance(service.log_client, Redis)
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

    @cache  # noqa: B019  (the world lives as long as the tests)
    def _good(self, operation: str, game: str) -> tuple[str, str, Any]:
        """The match, the token and the body of a valid request of an operation."""
        running = self.matches[game]
        match operation:
            case "POST /v1/players" | "PATCH /v1/me":
                return running, self.tokens[0], {"name": "Eve"}
            case "POST /v1/recoveries":
                return running, self.tokens[0], {"recovery_code": "reco_x"}
            case "POST /v1/me/tokens":
                return running, self.tokens[0], {"label": "Mine", "scopes": ["watch"], "expires_in": 60}
            case "POST /v1/me/webhooks" | "PATCH /v1/me/webhooks/{webhook_id}":
                return running, self.tokens[0], {"url": "https://moon.example/", "events": ["your_turn"]}
            case "POST /v1/me/bots" | "PATCH /v1/me/bots/{bot_id}":
                bot = {"name": "Deep", "games": ["ape_town"], "about": "slow", "url": "https://moon.example/"}
                return running, self.tokens[0], bot
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
        """What is wrong with the response to a case; None if it is right."""
        response, seconds = self._send(case)
        if seconds > LONGEST_S:  # the machine may have been busy
            seconds = min(self._send(case)[1] for _ in range(3))
        if seconds > LONGEST_S:
            return f"it took {seconds * 1000:.0f} ms"
        if response.status_code < 400:
            return f"the status is {response.status_code}"
        if len(response.get_data()) > LARGEST:
            return f"the response has {len(response.get_data())} bytes"
        status, code, document = problem(response)
        if code not in case.codes:
            return f"{code}: {document['detail']} {document.get('errors')}"
        method, _, path = case.operation.partition(" ")
        documented = reference()["paths"][path][method.lower()]["responses"]
        if f"`{code}`" not in documented.get(str(status), {}).get("description", ""):
            return f"{status} {code} is not in the reference"
        PROBLEM.validate(document)
        found = [error.get("pointer", error.get("parameter")) for error in document.get("errors", ())]
        if case.location is None or any(one == case.location or one.startswith(f"{case.location}/") for one in found):
            return None
        return f"{code} points at {found}"

    def _send(self, case: Case) -> tuple[TestResponse, float]:
        """The response, and the seconds that it took."""
        method, _, path = case.operation.partition(" ")
        match, token, body = self._good(case.operation, case.game)
        path = path.format(
            **{
                "match_id": match,
                "game": case.game,
                "code": "match-full",
                "player": self.player,
                "seek_id": "none",
                "token_id": "none",
                "webhook_id": "none",
                "bot_id": "none",
                "notice": "none",
                **case.names,
            }
        )
        data = edited(body, case.body) if isinstance(case.body, tuple) else case.body
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **case.headers}
        sent = {name: value for name, value in headers.items() if value is not None}
        # For an empty stream the client sends a Content-Length of 0; for empty bytes it would leave the header out.
        stream = None if data is None else io.BytesIO(data)
        began = time.perf_counter()
        query = _with_required(case, match)
        response = self._http.open(path, query_string=query, method=method, data=stream, headers=sent)
        response.get_data()
        return response, time.perf_counter() - began

    def contents(self) -> list[Contents]:
        """The contents of both servers."""
        return [_contents(server) for server in self._servers]

    def changes(self, sent: Sequence[Case]) -> Iterator[str]:
        """Send each case again, and name those that change the contents of a server."""
        for case in sent:
            before = self.contents()
            self._send(case)
            if keys := changed(before, self.contents()):
                yield f"{case.fault}: {keys} changed"


def _with_required(case: Case, match: str) -> str:
    """The query of a case, with the required parameters added; each of them takes a match."""
    method, _, path = case.operation.partition(" ")
    parameters = reference()["paths"][path][method.lower()].get("parameters", ())
    names = [one["name"] for one in parameters if one["in"] == "query" and one.get("required")]
    lacking = [name for name in names if case.query != NO_PARAMETERS and f"{name}=" not in case.query]
    return "&".join([case.query, *(f"{name}={match}" for name in lacking)]).lstrip("&")


def _contents(server: Redis) -> Contents:
    # Requests with bad inputs count in the rate limits too, and are uses of a token.
    counts = re.compile(b"limit:|api:processes|uses:")
    return {key: (digest, bool(expires)) for key, digest, expires in server.eval(CONTENTS, 0) if not counts.match(key)}


def changed(before: Sequence[Contents], after: Sequence[Contents]) -> Sequence[bytes]:
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


def edited(body: Any, edits: tuple[Edit, ...]) -> bytes | None:
    """A body with raw text at the paths of the edits."""
    if body is None:
        return None
    body = json.loads(json.dumps(body))
    texts: list[str] = []
    for path, text in edits:
        target = body
        for step in path[:-1]:
            target = target.setdefault(step, {}) if isinstance(step, str) else target[step]
        if text is None:
            del target[path[-1]]
        else:
            target[path[-1]] = f"{MARKER}{len(texts)}"
            texts.append(text)
    whole = json.dumps(body)
    for number, text in enumerate(texts):
        whole = whole.replace(json.dumps(f"{MARKER}{number}"), text)
    return whole.encode()


def test_there_are_hundreds_of_cases_and_some_for_every_operation() -> None:
    assert sum(map(len, cases().values())) >= 300
    assert cases().keys() == set(OPERATIONS)


def test_a_request_that_changes_something_is_found(world: World) -> None:
    valid, refused = (
        Case("POST /v1/matches", "valid", frozenset()),
        Case("GET /v1/me", "a body", frozenset(), body=b"{}"),
    )
    (fault,) = world.changes([refused, valid])
    assert fault.startswith("valid: [b'")


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_bad_input_gets_its_problem_immediately_and_changes_nothing(world: World, operation: str) -> None:
    mine = cases()[operation]
    before = world.contents()
    faults = [f"{case.fault}: {fault}" for case in mine if (fault := world.fault(case))]
    # The contents are read once for all cases: to read them takes longer than a request.
    if keys := changed(before, world.contents()):
        faults += [f"{keys} changed", *world.changes(mine)]
    assert not faults, "\n".join((f"{len(faults)} faults of {operation}", *faults))

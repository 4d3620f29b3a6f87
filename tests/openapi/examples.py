"""Records examples of all answers in a deterministic run of the service: successes here, problems in `refusals`.

`python -m tests.openapi.examples` writes them to api/reference/examples.json and api/problems/examples.json;
openapi.yaml and the pages of problems read them there.
"""

import hashlib
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from unittest import mock

import msgspec
from werkzeug.wrappers import Response

from api.problems.examples import RECORDED
from api.reference.openapi import EXAMPLES
from service.adapters.memory import local_ports
from service.automation import rating
from service.automation.bot_turns import advance
from service.games.registry import GAMES
from service.match.model import ABSENCE_MS
from tests.api.checked import Client, documented, reference
from tests.api.conftest import Container
from tests.api.two_seats import unlimited
from tests.openapi import refusals

GAME: Final = "ape_town"
NOW: Final = 1_767_225_600_000
"""1 January 2026."""
SHORTENED: Final = frozenset({"show_game", "list_problems", "show_metrics", "draw_board"})
"""Operations whose examples are shortened because the answers are long."""

_LONGEST_LINE: Final = 400
"""Maximum characters of a line in a shortened example."""

Examples = dict[str, dict[str, dict[str, Any]]]
"""By operation, status and media type."""


@contextmanager
def without_chance() -> Iterator[None]:
    """Derive every secret from a counter, so that each run has the same ones."""
    drawn = itertools.count()

    def token_bytes(length: int = 32) -> bytes:
        return hashlib.shake_256(f"example {next(drawn)}".encode()).digest(length)

    with (
        mock.patch("secrets.token_bytes", token_bytes),
        mock.patch("secrets.token_hex", lambda length=32: token_bytes(length).hex()),
    ):
        yield


class Run:
    """Sends requests, and records the answers as examples of their operations."""

    def __init__(self) -> None:
        times = itertools.count(NOW, 1000)
        self.waited_ms = 0
        container = Container(unlimited(), None)
        container.ports = local_ports(GAMES, lambda: next(times) + self.waited_ms, wake=container.feed.wake)
        self.client = Client(container, unchecked=True)
        self.found: Examples = {}

    def ask(self, method: str, path: str, body: object = None, token: str | None = None, **headers: str) -> Any:
        """Send a request. The first answer of each operation, status and media type becomes the example; return its JSON."""
        header_names = {name.replace("_", "-"): value for name, value in headers.items()}
        with self.client.send(method, path, body, token=token, headers=header_names) as response:
            assert response.status_code < 300, response.get_data(as_text=True)
            media_type = response.mimetype or ""
            value = _value(media_type, response)
        rule, _ = self.client.app.url_map.bind("moon").match(path.partition("?")[0], method, return_rule=True)
        operation = reference()["paths"][documented(rule)][method.lower()]["operationId"]
        if value is not None:
            recorded = self.found.setdefault(operation, {}).setdefault(str(response.status_code), {})
            example = {"summary": "Shortened", "value": _cut(value)} if operation in SHORTENED else {"value": value}
            recorded.setdefault(media_type, example)
        return value


def _value(media_type: str, response: Response) -> Any:
    body = response.get_data()
    match media_type:
        case "text/event-stream":
            return _frame(body.decode())
        case "application/x-ndjson":
            return [msgspec.json.decode(line) for line in body.splitlines() if line][:2]
        case "application/json":
            return msgspec.json.decode(body)
    return body.decode() or None


def _cut(value: Any) -> Any:
    """The beginning of each long text, list and object in a value."""
    match value:
        case str():
            lines = value.splitlines(keepends=True)
            value = "".join(lines[:2]) if len(lines) > 3 else value
            return value if len(value) < _LONGEST_LINE else f"{value[:_LONGEST_LINE]}…"
        case list():
            return [_cut(item) for item in value[:2]]
        case dict():
            # A linter would follow the references of a JSON Schema in an example.
            items = ((name, item) for name, item in value.items() if not name.startswith("$"))
            return {name: _cut(item) for name, item in itertools.islice(items, 13)}
    return value


def _frame(stream: str) -> dict[str, str]:
    """The first server-sent event with an id; without any, the first one."""
    frames = [
        dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith("retry"))
        for block in stream.split("\n\n")
    ]
    return next((frame for frame in frames if "id" in frame), frames[0])


def collect() -> Examples:
    """The examples of a run."""
    with without_chance():
        run = Run()
        _players_and_pages(run)
        _matches(run)
        _absence(run)
        _ratings(run)
        _erasure(run)
        _webhooks(run)
    return dict(sorted(run.found.items()))


def _players_and_pages(run: Run) -> None:
    for path in ("/v1/games", f"/v1/games/{GAME}", "/healthz", "/readyz", "/metrics"):
        run.ask("GET", path)
    # The example on this page is not from a run, so recording it does not depend on an earlier run.
    for path in ("/problems", "/problems/too-late"):
        run.ask("GET", path)
        run.ask("GET", path, accept="text/html")


def _matches(run: Run) -> None:
    ada, ben = (run.ask("POST", "/v1/players", {"name": name})["token"] for name in ("Ada", "Ben"))
    player = run.ask("GET", "/v1/me", token=ada)["id"]
    run.ask("POST", "/v1/stream-tickets", token=ada)
    _tokens(run, ada)

    def make(key: str, **wanted: object) -> str:
        made: str = run.ask("POST", "/v1/matches", {"game": GAME, "seats": 2, **wanted}, ada, idempotency_key=key)["id"]
        return made

    match = f"/v1/matches/{make('first')}"
    other = f"/v1/matches/{make('second', manual_start=True)}"
    run.ask("POST", f"{match}/seats", {"client_seed": "Ada's dice"}, ada, idempotency_key="sit")
    run.ask("GET", "/v1/matches")
    run.ask("GET", f"/v1/players/{player}/matches")
    run.ask("GET", f"{match}/board.svg?language=en")
    run.ask("POST", f"{match}/seats", {"client_seed": "Ben's dice"}, ben, idempotency_key="sit")
    run.ask("GET", "/v1/me/matches", token=ada)
    run.ask("POST", f"{other}/bots", {"bot": "greedy"}, ada, idempotency_key="bot-0")
    run.ask("POST", f"{other}/free", {"seat": 0}, ada, idempotency_key="free")
    run.ask("POST", f"{other}/bots", {"bot": "random"}, ada, idempotency_key="bot-1")
    run.ask("POST", f"{other}/bots", {"bot": "greedy"}, ada, idempotency_key="bot-2")
    run.ask("POST", f"{other}/start", {}, ada, idempotency_key="start")
    turn = next(token for token in (ada, ben) if run.client.ask(f"{match}/legal-actions", token)["actions"])
    action = run.ask("GET", f"{match}/legal-actions", token=turn)["actions"][0]
    run.ask("GET", f"{match}?include=texts", token=turn)
    run.ask("GET", f"{match}/timeline?after=3&limit=1")
    _bots(run, ada)
    run.ask("GET", f"{match}/diff?from=0&to=4")
    run.ask("POST", f"{match}/actions?dry_run=true", {"action": action}, turn)
    run.ask("POST", f"{match}/actions", {"action": action}, turn, idempotency_key="move-1")
    run.ask("GET", f"{match}/events?after=4&limit=2&include=texts", token=turn)
    run.ask("POST", f"{match}/leave", {}, ben, idempotency_key="leave")
    finished = other.rpartition("/")[2]
    while advance(run.client.container.ports, finished, moves=1000):
        pass
    run.ask("GET", f"{other}/audit")
    run.ask("GET", f"{other}/export")
    run.ask("POST", f"{other}/rematch", token=ada)
    sought = run.ask("POST", "/v1/seeks", {"game": GAME, "seats": 2}, ada, idempotency_key="seek")["id"]
    run.ask("GET", f"/v1/seeks/{sought}", token=ada)
    run.ask("DELETE", f"/v1/seeks/{sought}", token=ada)
    run.ask("POST", f"/v1/matches/{make('third')}/invitations", {}, ada)
    run.client.container.feed.close()  # so that streams end
    for form in ("text/event-stream", "application/x-ndjson"):
        run.ask("GET", f"{match}/events?after=4", token=turn, accept=form)
        run.ask("GET", "/v1/me/stream", token=ada, accept=form)
        run.ask("GET", f"/v1/streams?match={finished}:20&include=decisions", accept=form)


def _bots(run: Run, ada: str) -> None:
    """Ada hosts a bot, which has a task."""
    wanted = {"name": "Deep Moon", "games": [GAME], "about": "Looks two moves ahead."}
    bot = run.ask("POST", "/v1/me/bots", wanted, ada)["bot"]["id"]
    run.ask("PATCH", f"/v1/me/bots/{bot}", {"public": True, "seating": "everyone"}, ada)
    run.ask("GET", "/v1/me/bots", token=ada)
    token = run.ask("POST", f"/v1/me/bots/{bot}/token", token=ada)["token"]
    other = run.client.do("/v1/me/bots", {"name": "Half Moon"}, ada)["bot"]["id"]
    bots = {"game": GAME, "seats": 2, "bots": [other, bot]}
    run.client.do("/v1/matches", bots, ada, idempotency_key="two-bots")
    tasks = run.ask("GET", "/v1/me/tasks", token=token)["tasks"]
    assert tasks
    run.ask("POST", f"/v1/me/bots/{bot}/secret", token=ada)
    acted = {"action": tasks[0]["legal_actions"][0], "decision": tasks[0]["decision"]["id"]}
    path = f"/v1/matches/{tasks[0]['match']}/actions"
    run.client.do(path, acted, token, idempotency_key=tasks[0]["task"])
    run.ask("GET", f"/v1/me/bots/{bot}/tasks", token=ada)
    run.ask("GET", f"/v1/me/bots/{bot}/days", token=ada)
    run.ask("GET", "/v1/bots")
    run.ask("DELETE", f"/v1/me/bots/{other}", token=ada)


def _tokens(run: Run, ada: str) -> None:
    wanted = {"label": "Ada's screen", "scopes": ["watch"], "expires_in": 86_400}
    spare = run.ask("POST", "/v1/me/tokens", wanted, ada)
    run.ask("GET", "/v1/me/tokens", token=ada)
    run.ask("DELETE", f"/v1/me/tokens/{spare['id']}", token=ada)
    run.ask("DELETE", "/v1/me/tokens/others", token=ada)
    run.ask("PATCH", "/v1/me", {"name": "Ada L."}, ada)
    run.ask("PATCH", "/v1/me", {"name": "Ada"}, ada)
    run.ask("POST", "/v1/me/recovery-code", token=ada)


def _webhooks(run: Run) -> None:
    ada = run.client.sign_up("Ada")
    made = run.ask("POST", "/v1/me/webhooks", {"url": "https://moon.example/hook", "events": ["your_turn"]}, ada)
    webhook = f"/v1/me/webhooks/{made['id']}"
    sent = run.ask("POST", f"{webhook}/test", {}, ada)["notice"]
    run.ask("POST", f"{webhook}/deliveries/{sent}", {}, ada)
    run.ask("GET", f"{webhook}/deliveries", token=ada)
    run.ask("POST", f"{webhook}/secret", {}, ada)
    run.ask("PATCH", webhook, {"active": False}, ada)
    run.ask("GET", "/v1/me/webhooks", token=ada)
    run.ask("DELETE", webhook, token=ada)


def _erasure(run: Run) -> None:
    """A player loses the token, gets another one, and leaves."""
    signed_up = run.client.do("/v1/players", {"name": "Eve"})
    token = run.ask("POST", "/v1/recoveries", {"recovery_code": signed_up["recovery_code"]})["token"]
    made = run.client.do("/v1/matches", {"game": GAME, "seats": 2}, token, idempotency_key="eve")["id"]
    run.client.do(f"/v1/matches/{made}/seats", {}, token, idempotency_key="sit-eve")
    run.ask("GET", "/v1/me/export", token=token)
    run.ask("DELETE", "/v1/me", token=token)


def _absence(run: Run) -> None:
    """One of two people does not move for two weeks, comes back, and both abort the match."""
    ports = run.client.container.ports
    tokens = [run.client.sign_up(name) for name in ("Cleo", "Dora")]
    made = run.client.do("/v1/matches", {"game": GAME, "seats": 2, "clock": None}, tokens[0], idempotency_key="absence")
    match = f"/v1/matches/{made['id']}"
    for token in tokens:
        run.client.do(f"{match}/seats", {}, token, idempotency_key="sit-down")
    absent = run.client.ask(match)["decisions"][0]["seat"]
    run.waited_ms += ABSENCE_MS
    run.ask("POST", f"{match}/replace", {"seat": absent}, tokens[1 - absent], idempotency_key="replace")
    while advance(ports, made["id"], moves=1000):
        pass
    run.ask("POST", f"{match}/return", {}, tokens[absent], idempotency_key="return")
    run.ask("POST", f"{match}/abort", {}, tokens[absent], idempotency_key="abort")


def _ratings(run: Run) -> None:
    """One of two people leaves a rated match at its start, so that it ends soon; ten other opponents give both a place."""
    ports, client = run.client.container.ports, run.client
    names = ["Finn", "Gwen", *(f"Guest {number}" for number in range(1, 10))]
    tokens = [client.sign_up(name) for name in names]
    for number, other in enumerate((*tokens[1:], client.sign_up("Guest 10"))):
        wanted = {"game": GAME, "seats": 2, "rated": True}
        made = client.do("/v1/matches", wanted, tokens[0], idempotency_key=f"rated-{number}")
        match = f"/v1/matches/{made['id']}"
        for token in (tokens[0], other):
            client.do(f"{match}/seats", {}, token, idempotency_key="sit")
        for token in (other, tokens[0]):
            client.do(f"{match}/leave", {}, token, idempotency_key="leave")
        while advance(ports, made["id"], moves=1000):
            pass
        rating.rate(ports, made["id"])
    player = client.ask("/v1/me", tokens[0])["id"]
    run.ask("GET", f"/v1/games/{GAME}/leaderboard")
    run.ask("GET", f"/v1/games/{GAME}/ratings?limit=1")
    run.ask("GET", f"/v1/players/{player}")
    run.ask("GET", f"/v1/players/{player}/ratings?limit=1")


def collect_problems() -> dict[str, dict[str, Any]]:
    """Problems by code, from a separate run."""
    with without_chance():
        return refusals.collect(Run().client)


def render(examples: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(examples), indent=1) + b"\n"


def main() -> None:
    for path, examples in ((EXAMPLES, collect()), (RECORDED, collect_problems())):
        path.write_bytes(render(examples))
        sys.stdout.write(f"{path.name} is written\n")


if __name__ == "__main__":
    main()

"""Requests about a match for every route. Each viewer sends them in two worlds that it cannot distinguish."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from events.record import Event
from service.games.visibility import Seat
from service.repository import cursors
from tests.api.comparison import Comparison, Request, Row
from tests.api.world_setup import World, WorldSetup
from tests.api.worlds import Pair, pairs
from tests.length import LONG
from tests.service.games.matches import pool, spread

ALL: Final = "decisions,legal_actions,texts"
GZIP: Final = {"Accept-Encoding": "gzip"}
GERMAN: Final = {"Accept-Language": "de"}
SSE: Final = {"Accept": "text/event-stream"}
NDJSON: Final = {"Accept": "application/x-ndjson"}


def no_request(_: World) -> tuple[Request, ...]:
    """For routes whose answers are independent of any match."""
    return ()


def observation(world: World) -> Iterator[Request]:
    for version in spread(range(1, world.version + 1), 5):
        yield Request(f"{world.path}?version={version}&include=legal_actions")
    for seat in range(world.table.seats + 1):
        yield Request(f"{world.path}?viewer={seat}")
    yield Request(f"{world.path}?view=now")
    yield Request(world.path, GZIP)
    yield Request(f"{world.path}?include=legal_actions,texts", GZIP | GERMAN)
    yield Request(f"{world.path}?version={world.version + 1}")
    for version in (world.version, world.version - 1):
        yield Request(world.path, {"If-None-Match": world.etag(version)})
    yield Request(world.path, method="HEAD")
    yield Request(world.path, method="OPTIONS")


def legal_actions(world: World) -> Iterator[Request]:
    path = f"{world.path}/legal-actions"
    yield from (Request(path), Request(path, GZIP), Request(path, {"If-None-Match": world.etag(world.version)}))
    for version in (*spread(range(1, world.version - 4), 3), *range(world.version - 4, world.version)):
        yield Request(f"{path}?version={version}")
    yield Request(f"{path}?viewer=0")


def events(world: World) -> Iterator[Request]:
    path, newest = f"{world.path}/events", world.version
    yield from (Request(f"{path}?limit=500"), Request(f"{path}?limit=500&include=texts", GZIP))
    yield from (Request(f"{path}?after={newest // 2}&limit=3&include=texts", GERMAN), Request(f"{path}?after={newest}"))
    yield from (Request(f"{path}?limit=500&include=decisions"), Request(f"{path}?after={newest}&include={ALL}", GERMAN))
    yield from (Request(f"{path}?after={newest + 1}"), Request(f"{path}?limit=2&viewer=0"))
    yield Request(f"{path}?after={newest - 1}&head={world.head(newest - 1)[:16]}")
    yield Request(f"{path}?after={newest - 1}&head={'0' * 16}")
    yield Request(path, {"If-None-Match": world.etag(newest)})
    later = newest - newest // 2
    for form in (SSE, NDJSON):
        yield Request(f"{path}?include=texts", form, pieces=1 + -(-newest // 100))
        yield Request(f"{path}?after={newest - 1}&head={world.head(newest - 1)}", form, pieces=2)
        yield Request(f"{path}?limit=1", form)
        yield Request(f"{path}?include={ALL}&after={newest - later}", form, pieces=1 + -(-later // 100))
        yield Request(f"{path}?include={ALL}&after={newest}", form, pieces=1)
    yield Request(f"{path}?after=1", SSE | {"Last-Event-ID": str(newest - 2)}, pieces=2)
    yield Request(path, SSE | {"Last-Event-ID": str(newest + 1)})
    yield Request(path, {"Accept": "image/png"})


def spectators(world: World) -> Iterator[Request]:
    id_, newest = world.path.rpartition("/")[2], world.version
    for form in (SSE, NDJSON):
        yield Request(f"/v1/streams?match={id_}:0&include=texts", form, pieces=1 + -(-newest // 100))
        yield Request(f"/v1/streams?include=decisions,texts&match={id_}", GERMAN | form, pieces=1)
        yield Request(f"/v1/streams?match={id_}:{newest - 1}&include=decisions", form, pieces=2)
    yield Request(f"/v1/streams?match={id_}", SSE | {"Last-Event-ID": str(newest - 2)}, pieces=2)
    yield Request(f"/v1/streams?match={id_}:{newest + 1}")


def pictures(world: World) -> Iterator[Request]:
    path = f"{world.path}/board.svg"
    for version in spread(range(1, world.version + 1), 4):
        yield Request(f"{path}?version={version}&highlight=true")
    for seat in range(world.table.seats + 1):
        yield Request(f"{path}?viewer={seat}")
    yield from (Request(f"{path}?view=now"), Request(f"{path}?view=now&viewer=0&version=1", {"If-None-Match": "*"}))
    yield from (
        Request(path, GERMAN),
        Request(f"{path}?language=de&highlight=true", GZIP),
        Request(path, method="HEAD"),
    )
    yield Request(path, {"If-None-Match": world.etag(world.version)})
    yield Request(f"{path}?version={world.version + 1}")


def replays(world: World) -> Iterator[Request]:
    path, newest = f"{world.path}/timeline", world.version
    yield from (Request(f"{path}?limit=500"), Request(f"{path}?after={newest // 2}&limit=3", GERMAN | GZIP))
    yield from (
        Request(f"{path}?viewer=0&limit=2"),
        Request(f"{path}?after={newest}"),
        Request(f"{path}?after={newest + 1}"),
    )


def diffs(world: World) -> Iterator[Request]:
    path, newest = f"{world.path}/diff", world.version
    yield from (Request(f"{path}?from=0&to={newest}"), Request(f"{path}?from={newest - 2}&to={newest}", GERMAN | GZIP))
    yield from (
        Request(f"{path}?from=1&to=2&viewer=0"),
        Request(f"{path}?from=2&to=1"),
        Request(f"{path}?from=1&to={newest + 1}"),
    )


def lists(_: World) -> Iterator[Request]:
    yield Request("/v1/matches?status=running&limit=2")
    yield Request("/v1/matches?status=open&limit=2")
    yield Request("/v1/matches?status=finished&limit=2")
    yield Request("/v1/matches?status=ended&limit=2")
    yield Request("/v1/matches?free_seats=1&bots=false&limit=2")


def players_matches(world: World) -> Iterator[Request]:
    creator = msgspec.json.decode(world.events[0], type=Event).by.partition(":")[2]
    yield from (Request(f"/v1/players/{player}/matches?limit=2") for player in (creator, "pl_nobody"))


def ratings(world: World) -> Iterator[Request]:
    game = world.table.game.info.id
    creator = msgspec.json.decode(world.events[0], type=Event).by.partition(":")[2]
    yield from (Request(f"/v1/games/{game}/leaderboard?limit=2"), Request(f"/v1/games/{game}/ratings?limit=2"))
    yield from (Request(f"/v1/players/{creator}"), Request(f"/v1/players/{creator}/ratings"))


def actions(world: World) -> Iterator[Request]:
    """Actions that are only tried (`dry_run`) or refused: legal, illegal and unknown ones."""
    path, (first, *rest) = f"{world.path}/actions", [msgspec.to_builtins(one) for one in spread(pool(world.table), 8)]
    for action in (first, *rest, {"type": "no_such"}, {**first, "extra": 1}, {"type": first["type"], "card": 7}):
        yield Request(f"{path}?dry_run=true", GERMAN | GZIP, {"action": action}, "POST")
    for action in (first, *rest[:2]):
        yield Request(path, body={"action": action, "decision": "0:1"}, method="POST")
    for tag in (world.etag(world.version - 1), f'"{world.version}-{"0" * 16}"'):
        yield Request(path, {"If-Match": tag}, {"action": first}, "POST")
    for seat in range(world.table.seats):
        yield Request(path, body={"action": {"type": "no_such"}, "seat": seat}, method="POST")


def leave(world: World) -> Iterator[Request]:
    yield Request(f"{world.path}/leave", body={}, method="POST")


STALE: Final = {"If-Match": f'"1-{"0" * 16}"'}


def refused_commands(name: str, body: object) -> Row:
    """A command that would change the match, and is refused."""
    return lambda world: [
        Request(f"{world.path}/{name}", headers | GERMAN, body, "POST")
        for headers in (STALE, {"If-Match": '"none-of-ours"'})
    ]


ROWS: Final[Mapping[str, Row]] = {
    "GET /": no_request,
    "GET /web/{revision}/{name}": no_request,
    "GET /v1/games": no_request,
    "GET /v1/games/{game}": lambda world: [Request(f"/v1/games/{world.table.game.info.id}")],
    "GET /v1/bots": lambda _: [Request("/v1/bots")],
    "POST /v1/players": no_request,
    "GET /v1/me": lambda _: [Request("/v1/me")],
    "GET /v1/me/matches": lambda _: [Request("/v1/me/matches?limit=2"), Request("/v1/me/matches?limit=2&active=true")],
    "GET /v1/me/stream": lambda _: [
        *(Request("/v1/me/stream", form, pieces=1) for form in (SSE, NDJSON)),
        *(
            Request(f"/v1/me/stream?include={ALL}&after={cursors.encode(0)}", GERMAN | form, pieces=1)
            for form in (SSE, NDJSON)
        ),
    ],
    "POST /v1/stream-tickets": no_request,
    "PATCH /v1/me": no_request,
    "DELETE /v1/me": no_request,
    "GET /v1/me/export": lambda _: [Request("/v1/me/export", NDJSON)],
    "POST /v1/me/recovery-code": no_request,
    "POST /v1/recoveries": no_request,
    "GET /v1/me/tokens": no_request,
    "POST /v1/me/tokens": no_request,
    "DELETE /v1/me/tokens/{token_id}": no_request,
    "DELETE /v1/me/tokens/others": no_request,
    "DELETE /v1/me/tokens/current": no_request,
    "GET /v1/me/bots": no_request,
    "POST /v1/me/bots": no_request,
    "PATCH /v1/me/bots/{bot_id}": no_request,
    "DELETE /v1/me/bots/{bot_id}": no_request,
    "POST /v1/me/bots/{bot_id}/token": no_request,
    "POST /v1/me/bots/{bot_id}/secret": no_request,
    "GET /v1/me/bots/{bot_id}/tasks": no_request,
    "GET /v1/me/bots/{bot_id}/days": no_request,
    "GET /v1/me/tasks": lambda _: [Request("/v1/me/tasks", headers) for headers in ({}, GERMAN | GZIP)],
    **dict.fromkeys(
        (
            "GET /v1/me/webhooks",
            "POST /v1/me/webhooks",
            "PATCH /v1/me/webhooks/{webhook_id}",
            "DELETE /v1/me/webhooks/{webhook_id}",
            "POST /v1/me/webhooks/{webhook_id}/secret",
            "POST /v1/me/webhooks/{webhook_id}/test",
            "GET /v1/me/webhooks/{webhook_id}/deliveries",
            "POST /v1/me/webhooks/{webhook_id}/deliveries/{notice}",
        ),
        no_request,
    ),
    "GET /v1/matches": lists,
    "GET /v1/players/{player}/matches": players_matches,
    "GET /v1/players/{player}": ratings,
    "GET /v1/players/{player}/ratings": no_request,  # `ratings` has it
    "GET /v1/games/{game}/leaderboard": no_request,
    "GET /v1/games/{game}/ratings": no_request,
    "POST /v1/matches": no_request,
    "GET /v1/matches/{match_id}": observation,
    "GET /v1/matches/{match_id}/board.svg": pictures,
    "GET /v1/matches/{match_id}/timeline": replays,
    "GET /v1/matches/{match_id}/diff": diffs,
    "GET /v1/matches/{match_id}/legal-actions": legal_actions,
    "GET /v1/matches/{match_id}/events": events,
    "GET /v1/streams": spectators,
    "GET /v1/matches/{match_id}/export": lambda world: [
        Request(f"{world.path}/export", headers) for headers in ({}, GZIP, {"If-None-Match": world.etag(world.version)})
    ],
    "GET /v1/matches/{match_id}/audit": lambda world: [Request(f"{world.path}/audit")],
    "POST /v1/matches/{match_id}/seats": lambda world: [
        Request(f"{world.path}/seats", body=body, method="POST") for body in ({}, {"seat": 0}, {"join_code": "guess"})
    ],
    "POST /v1/matches/{match_id}/bots": lambda world: [
        Request(f"{world.path}/bots", body={"bot": bot}, method="POST") for bot in ("random", "nobody")
    ],
    "POST /v1/matches/{match_id}/start": lambda world: [Request(f"{world.path}/start", body={}, method="POST")],
    "POST /v1/matches/{match_id}/leave": lambda world: [
        Request(f"{world.path}/leave", GERMAN, {"only": "open"}, "POST")
    ],  # Comparison.leave sends it without `only`
    "POST /v1/matches/{match_id}/free": lambda world: [
        Request(f"{world.path}/free", GERMAN, {"seat": seat}, "POST") for seat in range(world.table.seats + 1)
    ],
    "POST /v1/matches/{match_id}/abort": refused_commands("abort", {}),
    "POST /v1/matches/{match_id}/return": lambda world: [Request(f"{world.path}/return", GERMAN, {}, "POST")],
    "POST /v1/matches/{match_id}/replace": lambda world: [
        Request(f"{world.path}/replace", GERMAN, {"seat": seat}, "POST") for seat in range(world.table.seats + 1)
    ],
    "POST /v1/matches/{match_id}/rematch": lambda world: [Request(f"{world.path}/rematch", method="POST")],
    "POST /v1/matches/{match_id}/invitations": lambda world: [
        Request(f"{world.path}/invitations", body={}, method="POST")
    ],
    "POST /v1/matches/{match_id}/actions": actions,
    "POST /v1/seeks": no_request,
    "GET /v1/seeks/{seek_id}": no_request,
    "DELETE /v1/seeks/{seek_id}": no_request,
    "GET /healthz": no_request,
    "GET /readyz": no_request,
    "GET /metrics": no_request,  # Comparison.compare reads the metrics itself
    "GET /problems": no_request,
    "GET /problems/{code}": no_request,
    "GET /openapi.yaml": no_request,
    "GET /openapi.json": no_request,
    "GET /docs": no_request,
    "GET /docs/start.js": no_request,
    "GET /docs/{name}": no_request,
}
AFTER_EACH_MOVE: Final[tuple[Row, ...]] = (
    lambda world: [Request(f"{world.path}/board.svg?highlight=true")],
    lambda world: [Request(f"{world.path}?include=legal_actions,texts")],
    lambda world: [Request(f"{world.path}/events?after={world.version - 1}&include=texts")],
    lambda world: [Request(f"{world.path}/events?after={world.version - 1}&include={ALL}", SSE, pieces=2)],
    *(ROWS[f"GET /v1/{name}"] for name in ("me/matches", "me/stream", "me/tasks", "matches")),
)
"""The requests that every viewer sends after each move."""


def compare_pair(setup: WorldSetup, pair: Pair) -> Iterator[Seat]:
    """Compare all answers about a pair, before and after moves and after a seat has left. Yield the seats that moved.

    In the short form, one seat sends the requests of every route, and only about the first pair of a table that another seat can tell
    apart. About the toy game, whose matches are short, it sends them about each pair, and about the last one an anonymous client
    sends them too.

    Raises:
        AssertionError: a caller can tell the worlds apart.
    """
    both = Comparison(setup, pair, *setup.create_pair(pair))
    few = {**both.anonymous, **dict(list(both.seats.items())[: 2 if LONG else 1])}
    chosen, is_toy = pairs(pair.table), pair.table.game.info.id == "toy"
    whole = next((one for one in chosen if len(one.viewers) <= pair.table.seats), chosen[0])
    if LONG or is_toy or pair is whole:
        both.compare(ROWS.values(), few if LONG or (is_toy and pair is chosen[-1]) else dict(list(few.items())[-1:]))
        both.compare(AFTER_EACH_MOVE, both.others)
    for seats in (set(range(pair.table.seats)) - both.unaware, both.unaware):
        if (seat := both.move(by=seats)) is not None:
            yield seat
    both.compare(AFTER_EACH_MOVE, {**few, **both.others})
    both.leave()
    both.compare(AFTER_EACH_MOVE, few)

"""Requests about a match for every route. Each viewer sends them in two worlds that it cannot distinguish."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from events.record import Event
from service.games.visibility import Seat
from service.repository import cursors
from tests.api.overheard import Ask, Comparison, Row
from tests.api.stage import Stage, World
from tests.api.worlds import Pair
from tests.length import LONG
from tests.service.games.matches import pool, spread

ALL: Final = "decisions,legal_actions,texts"
GZIP: Final = {"Accept-Encoding": "gzip"}
GERMAN: Final = {"Accept-Language": "de"}
SSE: Final = {"Accept": "text/event-stream"}
NDJSON: Final = {"Accept": "application/x-ndjson"}


def nothing(_: World) -> tuple[Ask, ...]:
    """Knows no match."""
    return ()


def observation(world: World) -> Iterator[Ask]:
    for version in spread(range(1, world.version + 1), 5):
        yield Ask(f"{world.path}?version={version}&include=legal_actions")
    for seat in range(world.table.seats + 1):
        yield Ask(f"{world.path}?viewer={seat}")
    yield Ask(f"{world.path}?view=now")
    yield Ask(world.path, GZIP)
    yield Ask(f"{world.path}?include=legal_actions,texts", GZIP | GERMAN)
    yield Ask(f"{world.path}?version={world.version + 1}")
    for version in (world.version, world.version - 1):
        yield Ask(world.path, {"If-None-Match": world.etag(version)})
    yield Ask(world.path, method="HEAD")
    yield Ask(world.path, method="OPTIONS")


def legal_actions(world: World) -> Iterator[Ask]:
    path = f"{world.path}/legal-actions"
    yield from (Ask(path), Ask(path, GZIP), Ask(path, {"If-None-Match": world.etag(world.version)}))
    for version in (*spread(range(1, world.version - 4), 3), *range(world.version - 4, world.version)):
        yield Ask(f"{path}?version={version}")
    yield Ask(f"{path}?viewer=0")


def events(world: World) -> Iterator[Ask]:
    path, newest = f"{world.path}/events", world.version
    yield from (Ask(f"{path}?limit=500"), Ask(f"{path}?limit=500&include=texts", GZIP))
    yield from (Ask(f"{path}?after={newest // 2}&limit=3&include=texts", GERMAN), Ask(f"{path}?after={newest}"))
    yield from (Ask(f"{path}?limit=500&include=decisions"), Ask(f"{path}?after={newest}&include={ALL}", GERMAN))
    yield from (Ask(f"{path}?after={newest + 1}"), Ask(f"{path}?limit=2&viewer=0"))
    yield Ask(f"{path}?after={newest - 1}&head={world.head(newest - 1)[:16]}")
    yield Ask(f"{path}?after={newest - 1}&head={'0' * 16}")
    yield Ask(path, {"If-None-Match": world.etag(newest)})
    for form in (SSE, NDJSON):
        yield Ask(f"{path}?include=texts", form, pieces=1 + -(-newest // 100))
        yield Ask(f"{path}?after={newest - 1}&head={world.head(newest - 1)}", form, pieces=2)
        yield Ask(f"{path}?limit=1", form)
        yield Ask(f"{path}?include={ALL}&after={newest // 2}", form, pieces=1 + -(-newest // 100))
        yield Ask(f"{path}?include={ALL}&after={newest}", form, pieces=1)
    yield Ask(f"{path}?after=1", SSE | {"Last-Event-ID": str(newest - 2)}, pieces=2)
    yield Ask(path, SSE | {"Last-Event-ID": str(newest + 1)})
    yield Ask(path, {"Accept": "image/png"})


def spectators(world: World) -> Iterator[Ask]:
    id_, newest = world.path.rpartition("/")[2], world.version
    for form in (SSE, NDJSON):
        yield Ask(f"/v1/streams?match={id_}:0&include=texts", form, pieces=1 + -(-newest // 100))
        yield Ask(f"/v1/streams?include=decisions,texts&match={id_}", GERMAN | form, pieces=1)
        yield Ask(f"/v1/streams?match={id_}:{newest - 1}&include=decisions", form, pieces=2)
    yield Ask(f"/v1/streams?match={id_}", SSE | {"Last-Event-ID": str(newest - 2)}, pieces=2)
    yield Ask(f"/v1/streams?match={id_}:{newest + 1}")


def pictures(world: World) -> Iterator[Ask]:
    path = f"{world.path}/board.svg"
    for version in spread(range(1, world.version + 1), 4):
        yield Ask(f"{path}?version={version}&highlight=true")
    for seat in range(world.table.seats + 1):
        yield Ask(f"{path}?viewer={seat}")
    yield from (Ask(path, GERMAN), Ask(f"{path}?language=de&highlight=true", GZIP), Ask(path, method="HEAD"))
    yield Ask(path, {"If-None-Match": world.etag(world.version)})
    yield Ask(f"{path}?version={world.version + 1}")


def replays(world: World) -> Iterator[Ask]:
    path, newest = f"{world.path}/timeline", world.version
    yield from (Ask(f"{path}?limit=500"), Ask(f"{path}?after={newest // 2}&limit=3", GERMAN | GZIP))
    yield from (Ask(f"{path}?viewer=0&limit=2"), Ask(f"{path}?after={newest}"), Ask(f"{path}?after={newest + 1}"))


def diffs(world: World) -> Iterator[Ask]:
    path, newest = f"{world.path}/diff", world.version
    yield from (Ask(f"{path}?from=0&to={newest}"), Ask(f"{path}?from={newest - 2}&to={newest}", GERMAN | GZIP))
    yield from (Ask(f"{path}?from=1&to=2&viewer=0"), Ask(f"{path}?from=2&to=1"), Ask(f"{path}?from=1&to={newest + 1}"))


def lists(_: World) -> Iterator[Ask]:
    yield Ask("/v1/matches?status=running&limit=2")
    yield Ask("/v1/matches?status=open&limit=2")
    yield Ask("/v1/matches?status=finished&limit=2")
    yield Ask("/v1/matches?status=ended&limit=2")
    yield Ask("/v1/matches?free_seats=1&bots=false&limit=2")


def players_matches(world: World) -> Iterator[Ask]:
    creator = msgspec.json.decode(world.events[0], type=Event).by.partition(":")[2]
    yield from (Ask(f"/v1/players/{player}/matches?limit=2") for player in (creator, "pl_nobody"))


def actions(world: World) -> Iterator[Ask]:
    """Refused and judged only: what is legal, what is not, and what is none."""
    path, (first, *rest) = f"{world.path}/actions", [msgspec.to_builtins(one) for one in spread(pool(world.table), 8)]
    for action in (first, *rest, {"type": "no_such"}, {**first, "extra": 1}, {"type": first["type"], "card": 7}):
        yield Ask(f"{path}?dry_run=true", GERMAN | GZIP, {"action": action}, "POST")
    for action in (first, *rest[:2]):
        yield Ask(path, body={"action": action, "decision": "0:1"}, method="POST")
    for tag in (world.etag(world.version - 1), f'"{world.version}-{"0" * 16}"'):
        yield Ask(path, {"If-Match": tag}, {"action": first}, "POST")
    for seat in range(world.table.seats):
        yield Ask(path, body={"action": {"type": "no_such"}, "seat": seat}, method="POST")


def leave(world: World) -> Iterator[Ask]:
    yield Ask(f"{world.path}/leave", body={}, method="POST")


STALE: Final = {"If-Match": f'"1-{"0" * 16}"'}


def refused_wishes(name: str, body: object) -> Row:
    """A command that would change the match, and is refused."""
    return lambda world: [
        Ask(f"{world.path}/{name}", headers | GERMAN, body, "POST")
        for headers in (STALE, {"If-Match": '"none-of-ours"'})
    ]


ROWS: Final[Mapping[str, Row]] = {
    "GET /": nothing,
    "GET /v1/games": nothing,
    "GET /v1/games/{game}": lambda world: [Ask(f"/v1/games/{world.table.game.info.id}")],
    "GET /v1/bots": nothing,
    "POST /v1/players": nothing,
    "GET /v1/me": lambda _: [Ask("/v1/me")],
    "GET /v1/me/matches": lambda _: [Ask("/v1/me/matches?limit=2"), Ask("/v1/me/matches?limit=2&active=true")],
    "GET /v1/me/stream": lambda _: [
        *(Ask("/v1/me/stream", form, pieces=1) for form in (SSE, NDJSON)),
        *(
            Ask(f"/v1/me/stream?include={ALL}&after={cursors.encode(0)}", GERMAN | form, pieces=1)
            for form in (SSE, NDJSON)
        ),
    ],
    "POST /v1/stream-tickets": nothing,
    "POST /v1/me/tokens": nothing,
    "DELETE /v1/me/tokens/current": nothing,
    "GET /v1/matches": lists,
    "GET /v1/players/{player}/matches": players_matches,
    "POST /v1/matches": nothing,
    "GET /v1/matches/{match_id}": observation,
    "GET /v1/matches/{match_id}/board.svg": pictures,
    "GET /v1/matches/{match_id}/timeline": replays,
    "GET /v1/matches/{match_id}/diff": diffs,
    "GET /v1/matches/{match_id}/legal-actions": legal_actions,
    "GET /v1/matches/{match_id}/events": events,
    "GET /v1/streams": spectators,
    "GET /v1/matches/{match_id}/export": lambda world: [
        Ask(f"{world.path}/export", headers) for headers in ({}, GZIP, {"If-None-Match": world.etag(world.version)})
    ],
    "GET /v1/matches/{match_id}/audit": lambda world: [Ask(f"{world.path}/audit")],
    "POST /v1/matches/{match_id}/seats": lambda world: [
        Ask(f"{world.path}/seats", body=body, method="POST") for body in ({}, {"seat": 0}, {"join_code": "guess"})
    ],
    "POST /v1/matches/{match_id}/bots": lambda world: [
        Ask(f"{world.path}/bots", body={"bot": bot}, method="POST") for bot in ("random", "nobody")
    ],
    "POST /v1/matches/{match_id}/start": lambda world: [Ask(f"{world.path}/start", body={}, method="POST")],
    "POST /v1/matches/{match_id}/leave": lambda world: [
        Ask(f"{world.path}/leave", GERMAN, {"only": "open"}, "POST")
    ],  # without `only` it is the last that a seat does, below
    "POST /v1/matches/{match_id}/free": lambda world: [
        Ask(f"{world.path}/free", GERMAN, {"seat": seat}, "POST") for seat in range(world.table.seats + 1)
    ],
    "POST /v1/matches/{match_id}/abort": refused_wishes("abort", {}),
    "POST /v1/matches/{match_id}/return": lambda world: [Ask(f"{world.path}/return", GERMAN, {}, "POST")],
    "POST /v1/matches/{match_id}/replace": lambda world: [
        Ask(f"{world.path}/replace", GERMAN, {"seat": seat}, "POST") for seat in range(world.table.seats + 1)
    ],
    "POST /v1/matches/{match_id}/rematch": lambda world: [Ask(f"{world.path}/rematch", method="POST")],
    "POST /v1/matches/{match_id}/invitations": lambda world: [Ask(f"{world.path}/invitations", body={}, method="POST")],
    "POST /v1/matches/{match_id}/actions": actions,
    "POST /v1/seeks": nothing,
    "GET /v1/seeks/{seek_id}": nothing,
    "DELETE /v1/seeks/{seek_id}": nothing,
    "GET /healthz": nothing,
    "GET /readyz": nothing,
    "GET /metrics": nothing,  # what it counts is compared below
    "GET /problems": nothing,
    "GET /problems/{code}": nothing,
    "GET /openapi.yaml": nothing,
    "GET /openapi.json": nothing,
    "GET /docs": nothing,
    "GET /docs/start.js": nothing,
    "GET /docs/{name}": nothing,
}
AGAIN: Final[tuple[Row, ...]] = (
    lambda world: [Ask(f"{world.path}/board.svg?highlight=true")],
    lambda world: [Ask(f"{world.path}?include=legal_actions,texts")],
    lambda world: [Ask(f"{world.path}/events?after={world.version - 1}&include=texts")],
    lambda world: [Ask(f"{world.path}/events?after={world.version - 1}&include={ALL}", SSE, pieces=2)],
    *(ROWS[f"GET /v1/{name}"] for name in ("me/matches", "me/stream", "matches")),
)
"""The requests that every viewer sends after each move."""


def told_alike(stage: Stage, pair: Pair) -> Iterator[Seat]:
    """Compare all that is told of a pair, while some move and one leaves; the seats that moved.

    In the short form one seat asks every route, and without a token somebody does only where no seat can tell the worlds
    apart; what everybody asks after each move is asked without a token too.

    Raises:
        AssertionError: somebody can tell the worlds apart.
    """
    both = Comparison(stage, pair, *stage.lay(pair))
    few = {**both.nobody, **dict(list(both.seats.items())[: 2 if LONG else 1])}
    nobody_knows = len(pair.viewers) > pair.table.seats
    both.compare(ROWS.values(), few if LONG or nobody_knows else dict(list(few.items())[-1:]))
    both.compare(AGAIN, both.others)
    for seats in (set(range(pair.table.seats)) - both.unable, both.unable):
        if (seat := both.go_on(by=seats)) is not None:
            yield seat
    both.compare(AGAIN, {**few, **both.others})
    both.leave()
    both.compare(AGAIN, few)

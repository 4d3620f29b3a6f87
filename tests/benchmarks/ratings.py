"""The cost of ratings: pages of a leaderboard of 100,000 players, the rating of a match, and a move in a rated match."""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from statistics import median
from typing import IO, Final

import msgspec

from events.redis_log import send
from events.redis_pool import Command
from service.adapters.rating_cache import encode
from service.adapters.ratings import BOARDS, _key, _places
from service.automation import rating
from service.automation.bot_turns import advance
from service.container import Service
from service.match.events import MatchClock
from service.match.new_match import NewMatch
from service.match.rating import OPPONENTS, Rating, Standing
from service.match.redaction import legal_actions
from service.repository.ports import Player
from service.usecases import match_lifecycle, play
from service.usecases.play import ActionRequest
from tests.benchmarks.api_process import api_process
from tests.benchmarks.reads import Reader, Reading

GAME: Final = "ape_town"
PLAYERS: Final = 100_000
RATED: Final = 20
MOVES: Final = 120
BATCH: Final = 3_000
"""Commands in one pipeline."""
FIRST_KEY: Final = 5
"""The number of the first leaderboard in `_places`."""


def player(number: int) -> str:
    return f"pl_{number:06d}"


def commands() -> Iterator[Command]:
    """The commands that store the accounts and the places of all players. Every third one is a hosted bot."""
    opponents = tuple(map(player, range(OPPONENTS)))
    for number in range(PLAYERS):
        name = player(number)
        standing = Standing(
            "human" if number % 3 else "hosted",
            Rating(25_000_000 + number * 7_919 % 15_000_000, 5_000_000),
            matches=20,
            opponents=opponents,
        )
        yield ("SET", f"player:{name}", msgspec.json.encode(Player(name, f"Player {number}", 0)))
        yield ("HSET", _key(GAME, "standings"), name, encode(standing))
        for board, place in _places(name, standing):
            yield ("ZADD", _key(GAME, BOARDS[board - FIRST_KEY]), 0, place)


def readings(service: Service, environ: Mapping[str, str], log_file: IO[bytes]) -> Iterator[Reading]:
    yield from _rating(service)
    yield from _moves(service)
    rest = commands()
    while batch := list(islice(rest, BATCH)):
        send(service.log_client, *batch)
    path = f"/v1/games/{GAME}/leaderboard?limit=200"
    client = Reader(service).client
    half = client.ask(path.replace("200", "1"))
    for _ in range(50):
        half = client.ask(f"{path}&cursor={half['next']}")
    paths = {
        "a page of a leaderboard: the first": path,
        "a page of a leaderboard: the 50th": f"{path}&cursor={half['next']}",
        "a page of a leaderboard: only people": f"{path}&kind=human",
        "a player with its rank": f"/v1/players/{player(50_000)}",
    }
    with api_process(service, environ, log_file) as api:
        for what, one in paths.items():
            ms, note = api.warm(one)
            aim = "" if "players/" in one else f"200 of {PLAYERS:,} players; aim 20 ms; "
            yield Reading(what, ms, aim + note)


def _match(service: Service, name: str, *, rated: bool) -> str:
    wanted = NewMatch(GAME, 2, clock=MatchClock(turn_seconds=3_600), rated=rated)
    match = match_lifecycle.create(service.ports, "pl_host", wanted, name).match
    for one in ("pl_a", "pl_b"):
        match_lifecycle.join(service.ports, one, match.id, "join")
    return match.id


def _rating(service: Service) -> Iterator[Reading]:
    ports = service.ports
    times = []
    for number in range(RATED):
        match = _match(service, f"rated-{number}", rated=True)
        for one in ("pl_a", "pl_b"):
            match_lifecycle.leave(ports, one, match, "leave")
        while advance(ports, match, moves=1_000):
            pass
        times.append(_milliseconds(lambda match=match: rating.rate(ports, match)))  # type: ignore[misc]
    yield Reading("the rating of a match, durable", median(times), f"median of {RATED}")


def _moves(service: Service) -> Iterator[Reading]:
    """Moves in a rated match and in another one, in turns, so that both meet the same load."""
    matches = {name: _match(service, name, rated=name == "rated") for name in ("rated", "plain")}
    times: dict[str, list[float]] = {name: [] for name in matches}
    for number in range(MOVES):
        for name in sorted(matches, reverse=number % 2 == 0):
            match, _ = service.ports.history.newest(matches[name])
            seat = match.decisions()[0].seat
            action = msgspec.to_builtins(next(iter(legal_actions(match, seat))))
            who = ("pl_a", "pl_b")[seat]
            move = partial(play.act, service.ports, who, match.id, ActionRequest(action, None, None), f"move-{number}")
            times[name].append(_milliseconds(move))
    rated, plain = median(times["rated"]), median(times["plain"])
    yield Reading("a move in a rated match", rated, f"{plain:.2f} ms in another one: {rated / plain:.2f}; aim 1.00")


def _milliseconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - began)

"""The check of a bot that pulls its tasks, or that plays over the API otherwise: it plays the beginning of real matches.

The bot runs elsewhere, with the token that this check has too. The check creates matches with it, takes a seat in each, and then
only watches who takes the decisions of this seat: the bot, or the service when their time is over.
"""

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import msgspec

from service.games.protocol import AnyGame
from service.match.characters import printable
from service.ops.bot_check.verdict import Verdict, faulty, fine

DECISIONS: Final = 8
"""How many decisions of each game the bot has to take."""
TURN_S: Final = 10
"""Time for a decision where the rules do not limit it."""
LONGEST_S: Final = 120.0
"""How long a match is watched at most."""
_WAIT_S: Final = 5
"""Long polling."""
_SILENCE_S: Final = 30.0
_MAX_ANSWER_BYTES: Final = 1 << 20


class NotDone(Exception):
    """The service did not do what it was asked for; the message says why."""


class Service:
    """The API of a service, for the player with a token. `url` was checked: https, or http to this machine."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/").removesuffix("/v1") + "/v1"
        self._token = token

    def ask(self, path: str, body: Mapping[str, object] | None = None) -> Any:
        """The answer to a GET, or to a POST with a body.

        Raises:
            NotDone: it was refused, or there was no answer.
        """
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if body is not None:
            headers["Idempotency-Key"] = secrets.token_hex(16)
        data = None if body is None else msgspec.json.encode(body)
        opener = build_opener(_NoRedirects, ProxyHandler({}))
        try:
            with opener.open(Request(self._url + path, data, headers), timeout=_SILENCE_S) as response:  # noqa: S310  (the scheme was checked)
                return msgspec.json.decode(response.read(_MAX_ANSWER_BYTES))
        except HTTPError as error:
            with error:
                raise NotDone(_detail(error)) from None
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            raise NotDone(printable(f"No service answers at {self._url}: {reason}.")) from None


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_args: Any) -> None:
        """Follow none: the token is for this service alone."""


def _detail(error: HTTPError) -> str:
    try:
        problem = msgspec.json.decode(error.read(_MAX_ANSWER_BYTES), type=dict[str, Any])
        return printable(str(problem.get("detail") or problem["title"]))
    except (OSError, HTTPException, ValueError, RecursionError, KeyError):
        return f"The service answered {error.code}."


def verdicts(service: Service, games: Sequence[AnyGame]) -> Iterator[Verdict]:
    """The verdict of each check, as soon as it is known."""
    try:
        me = service.ask("/me")
        player, name = me["id"], printable(str(me["name"]))
    except NotDone as error:
        yield faulty("token", str(error))
        return
    except (KeyError, TypeError):
        yield faulty("token", "What answers at this address is no service of Moonstone.")
        return
    yield fine("token", f"It is the token of {name}.")
    for game in games:
        try:
            yield _game(service, player, game)
        except NotDone as error:
            yield faulty(f"game:{game.info.id}", str(error))


def _game(service: Service, player: str, game: AnyGame) -> Verdict:
    name = f"game:{game.info.id}"
    clock = {} if game.info.keeps_time else {"clock": {"turn_seconds": TURN_S}}
    match = service.ask("/matches", {"game": game.info.id, "seats": 2, "bots": ["random"], "private": True, **clock})[
        "id"
    ]
    code = service.ask(f"/matches/{match}")["join_code"]
    service.ask(f"/matches/{match}/seats", {"join_code": code})
    times: list[int] = []
    missed, opened_at, seat, kind = 0, 0, None, ""
    for event in _events(service, match):
        kind, data = event["type"], event["data"]
        if kind == "seat_taken" and data["player"] == player:
            seat = data["seat"]
        elif kind == "action" and data["seat"] == seat:
            times.append(event["at"] - opened_at)
        elif kind == "default_action" and data["seat"] == seat:
            missed += 1
        opened_at = event["at"]
        if missed or len(times) == DECISIONS or kind == "match_scored":
            break
    if kind != "match_scored":
        service.ask(f"/matches/{match}/leave", {})
    if missed:
        return faulty(
            name,
            f"It took {len(times)} decisions, and then none within {TURN_S} s. Does the bot run with this token, and answer each "
            "of its tasks with `POST /v1/matches/{match}/actions`? `GET /v1/me/bots/{id}/tasks` shows what it sent.",
        )
    if not times:
        return faulty(name, f"It took no decision within {LONGEST_S:g} s. Does the bot run with this token?")
    return fine(name, f"It took {len(times)} decisions, the slowest within {max(times)} ms.")


def _events(service: Service, match: str) -> Iterator[Mapping[str, Any]]:
    """The events of a match, until nothing happens any more or the time is over."""
    after, until = 0, time.monotonic() + LONGEST_S
    while time.monotonic() < until:
        page = service.ask(f"/matches/{match}/events?after={after}&wait={_WAIT_S}")["events"]
        for event in page:
            after = event["version"]
            yield event

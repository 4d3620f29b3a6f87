"""The check of a bot that pulls its tasks, or that plays over the API otherwise: it plays the beginning of real matches.

The bot runs elsewhere, with the token that this check has too. The check creates matches with it, takes a seat in each, and then
watches who takes the decisions of this seat: the bot, or the service when their time is over. In a last match it takes one itself.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
_MAX_SHOWN: Final = 500
"""How much of a text of the service is shown, in characters."""
_STRANGE: Final = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What reading an answer raises if it has another form than those of Moonstone."""


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
        return printable(str(problem.get("detail") or problem["title"])[:_MAX_SHOWN])
    except (OSError, HTTPException, RecursionError, *_STRANGE):
        return f"The service answered {error.code}."


def verdicts(service: Service, games: Sequence[AnyGame]) -> Iterator[Verdict]:
    """The verdict of each check, as soon as it is known."""
    try:
        me = service.ask("/me")
        player, name = me["id"], printable(str(me["name"])[:_MAX_SHOWN])
    except NotDone as error:
        yield faulty("token", str(error))
        return
    except _STRANGE:
        yield faulty("token", "What answers at this address is no service of Moonstone.")
        return
    yield fine("token", f"It is the token of {name}.")
    is_playing = True
    for game in games:
        verdict = _checked(f"game:{game.info.id}", _game, service, player, game)
        is_playing = is_playing and verdict.outcome == "ok"
        yield verdict
    timed_by_clock = next((game for game in games if not game.info.keeps_time), None)
    if is_playing and timed_by_clock is not None:
        yield _checked("two-programs", _two_programs, service, player, timed_by_clock)


def _checked(
    name: str, check: Callable[[Service, str, AnyGame], Verdict], service: Service, player: str, game: AnyGame
) -> Verdict:
    try:
        return check(service, player, game)
    except NotDone as error:
        return faulty(name, str(error))
    except _STRANGE:
        return faulty(name, "The service gave an answer that is not one of Moonstone.")


def _begun(service: Service, game: AnyGame) -> str:
    """A new private match of the bot and a built-in one. It may take seconds until it begins."""
    clock = {} if game.info.keeps_time else {"clock": {"turn_seconds": TURN_S}}
    wanted = {"game": game.info.id, "seats": 2, "bots": ["random"], "private": True, **clock}
    match = str(service.ask("/matches", wanted)["id"])
    code = service.ask(f"/matches/{match}")["join_code"]
    service.ask(f"/matches/{match}/seats", {"join_code": code})
    return match


def _game(service: Service, player: str, game: AnyGame) -> Verdict:
    name, match = f"game:{game.info.id}", _begun(service, game)
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


def _two_programs(service: Service, _player: str, game: AnyGame) -> Verdict:
    """Whether the bot goes on after another program with its token has taken a decision first: this check tries to."""
    name, match = "two-programs", _begun(service, game)
    taken, tried, seen, until = 0, 0, set[str](), time.monotonic() + LONGEST_S
    task: Mapping[str, Any] = {}
    while not taken and tried < DECISIONS and time.monotonic() < until:
        query = "".join(f"&seen={one}" for one in seen)
        for task in service.ask(f"/me/tasks?wait={_WAIT_S}{query}")["tasks"]:
            seen.add(task["task"])
            if task["match"] == match:
                tried += 1
                taken = _taken(service, task)
    outcome = ""
    for event in _events(service, match, taken) if taken else ():
        if event["data"].get("seat") == task["seat"]:
            outcome = event["type"]
            break
    service.ask(f"/matches/{match}/leave", {})
    if not tried:
        return faulty(name, "`GET /v1/me/tasks` gave no task in a match of the bot.")
    if not taken:
        return Verdict(name, "skipped", f"The bot was faster than this check with {tried} decisions.")
    if outcome == "action":
        return fine(name, "It went on after another program with its token had taken a decision first.")
    return faulty(
        name,
        f"Another program with its token took a decision first, and then the bot took none within {TURN_S} s. Its answer was refused "
        "with 409: let it go on with its next task.",
    )


def _taken(service: Service, task: Mapping[str, Any]) -> int:
    """Take the decision of a task; returns the version of the action, or 0 if the bot was first."""
    action = {key: _resolved(value) for key, value in task["legal_actions"][0].items()}
    try:
        receipt = service.ask(
            f"/matches/{task['match']}/actions", {"action": action, "decision": task["decision"]["id"]}
        )
    except NotDone:
        return 0
    return int(receipt["version"])


def _resolved(value: Any) -> Any:
    """A value of a legal action, with as few items of a pattern as it allows."""
    return value["any_of"][: value["min"]] if isinstance(value, dict) and "any_of" in value else value


def _events(service: Service, match: str, after: int = 0) -> Iterator[Mapping[str, Any]]:
    """The events of a match after a version, until nothing happens any more or the time is over."""
    until = time.monotonic() + LONGEST_S
    while time.monotonic() < until:
        page = service.ask(f"/matches/{match}/events?after={after}&wait={_WAIT_S}")["events"]
        for event in page:
            after = event["version"]
            yield event

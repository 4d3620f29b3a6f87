"""Lists of public matches: `GET /v1/matches` and `GET /v1/players/{player}/matches`."""

from collections.abc import Mapping
from typing import Any, Final, get_args

import msgspec
from flask import Response

from api.http import context
from api.http.responses import answer
from api.requests import strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from api.resources.matches import HIGHEST_RATING, MAX_SEATS
from service.errors import Refused
from service.match.facets import ClockKind, Speed
from service.repository import cursors, index_entry
from service.repository.index_entry import IndexEntry
from service.usecases import finding, match_lists
from service.views.match_views import MatchSummary

blueprint: Final = Blueprint("lists", description="Lists of public matches.")

_FIRST: Final = {"show_match": {"match_id": "$response.body#/matches/0/id"}}

ENDED: Final = "ended"
"""Finished and aborted matches in the order of their ends."""


MAX_OPTIONS: Final = 8
_ONLY_OPEN: Final = "Only with `status=open`."


class MatchesQuerySchema(strict_fields.PageSchema):
    status = strict_fields.Choice(
        "open",
        "running",
        "finished",
        "aborted",
        ENDED,
        load_default="open",
        metadata={
            "description": "Which matches: `open` (waiting for players), `running`, `finished` or `aborted` (before the start), "
            "newest first; or `ended`: the finished and the aborted ones in the order of their ends, oldest first."
        },
    )
    game = strict_fields.String(
        40,
        shortest=1,
        pattern="[a-z0-9_]+",
        form="the id of a game, as GET /v1/games lists it",
        metadata={"description": "Only matches of the game with this id."},
    )
    seats = strict_fields.DecimalInteger(
        1, MAX_SEATS, metadata={"description": f"Only matches with this number of seats. {_ONLY_OPEN}"}
    )
    free_seats = strict_fields.DecimalInteger(
        1, MAX_SEATS, metadata={"description": f"Only matches with at least this number of free seats. {_ONLY_OPEN}"}
    )
    clock = strict_fields.Choice(
        *get_args(ClockKind),
        metadata={
            "description": "Only matches without a clock (`none`), with seconds for each decision (`turn`), with seconds for all "
            f"decisions of a seat (`bank`), or of a game that keeps its own time (`game`). {_ONLY_OPEN}"
        },
    )
    speed = strict_fields.Choice(
        *get_args(Speed),
        metadata={
            "description": "Only matches whose clock gives a decision, or all decisions of a seat, less than an hour "
            f"(`minutes`), less than a day (`hours`), or more (`days`). {_ONLY_OPEN}"
        },
    )
    option = strict_fields.List(
        strict_fields.String(
            100, shortest=3, form="name:value, such as treachery:true", pattern="[a-z0-9_]+:[^\\x00-\\x1f\\x7f-\\x9f]+"
        ),
        MAX_OPTIONS,
        load_default=(),
        metadata={
            "description": "Only matches with this option, as `name:value`, such as `treachery:true`; may be repeated. "
            f"Options that a match was created without have their defaults. {_ONLY_OPEN}"
        },
    )
    creator = strict_fields.String(
        64,
        shortest=1,
        pattern="[A-Za-z0-9_]+",
        form="the id of a player",
        metadata={"description": f"Only matches that the player with this id created. {_ONLY_OPEN}"},
    )
    bots = strict_fields.Flag(
        metadata={
            "description": f"Only matches in which a bot has a seat (`true`), or none has (`false`). {_ONLY_OPEN}"
        }
    )
    rated = strict_fields.Flag(
        metadata={"description": f"Only matches that are rated (`true`), or are not (`false`). {_ONLY_OPEN}"}
    )
    rating_from = strict_fields.DecimalInteger(
        0,
        HIGHEST_RATING,
        metadata={
            "description": "Only matches whose people, or whose creator if nobody has a seat, have at least this rating in the "
            f"match's game. A player without a rating counts as 1000. {_ONLY_OPEN}"
        },
    )
    rating_to = strict_fields.DecimalInteger(
        0, HIGHEST_RATING, metadata={"description": f"The same for the greatest rating. {_ONLY_OPEN}"}
    )


class MatchList(msgspec.Struct, frozen=True):
    """A page of matches; `next` is the cursor of the next page, null at the end. With `status=ended` it is never null."""

    matches: tuple[MatchSummary, ...]
    next: str | None


@blueprint.at("/v1/matches", methods=["GET"])
@blueprint.takes(MatchesQuerySchema, location="query")
@blueprint.answers_with(200, MatchList, description="A page of public matches.")
@blueprint.refuses("game-not-found", *STORE_PROBLEMS)
@blueprint.leads_to(200, **_FIRST)
def list_matches(query: Mapping[str, Any]) -> Response:
    """List public matches, newest first.

    New matches do not shift pages: `next` continues after the last match of this page. A page may have fewer matches than
    `limit`, or none, without being the last, for example if three filters together exclude most of them.

    Filters can be combined. `game` applies to every status, the others to matches that wait for players. In `clock` and
    `speed` a game that keeps its own time (4 Monkeys) is `game` and `minutes`.

    To read every match that ends exactly once, request `status=ended` and keep `next`. It is never null there: it continues
    with matches that end later, and stays the same cursor until there are any. While the end of a match is being written,
    later ends are not listed; this takes a few seconds, and at most a minute.
    """
    ports, limit, game = context.ports(), query["limit"], query.get("game")
    wanted = _wanted(query)
    if query["status"] == ENDED:
        after = cursors.decode(query["cursor"], int) if "cursor" in query else 0
        over, number = match_lists.ended_page(ports, after, limit, game)
        return answer(MatchList(over, cursors.encode(number)))
    before = _before(query)
    if wanted is None:
        return _page(*match_lists.public_page(ports, query["status"], before, limit, game))
    return _page(*finding.open_page(ports, wanted, before, limit))


def _wanted(query: Mapping[str, Any]) -> finding.Wanted | None:
    """What open matches must have; None without filters, or if the list is of another status.

    Raises:
        Refused: `invalid-parameter`: a filter of open matches for a list of others.
    """
    given = {name: query[name] for name in finding.Wanted.__struct_fields__ if name in query}
    given["option"] = tuple(query["option"])
    if query["status"] != "open":
        for name in sorted(name for name, value in given.items() if name != "game" and value != ()):
            raise Refused("invalid-parameter", f"{name} applies only to status=open.", parameter=name)
        return None
    wanted = finding.Wanted(**given)
    return None if wanted == finding.Wanted() else wanted


@blueprint.at("/v1/players/<player>/matches")
@blueprint.takes(strict_fields.PageSchema, location="query")
@blueprint.answers_with(200, MatchList, description="A page of the player's public matches.")
@blueprint.refuses("player-not-found", *STORE_PROBLEMS)
@blueprint.leads_to(200, **_FIRST)
def list_player_matches(query: Mapping[str, Any], player: str) -> Response:
    """List the public matches that a player created or has or had a seat in, newest first.

    A page may have fewer matches than `limit` without being the last.
    """
    return _page(*match_lists.player_page(context.ports(), player, _before(query), query["limit"]))


def _before(query: Mapping[str, Any]) -> IndexEntry | None:
    return index_entry.decode(query["cursor"]) if "cursor" in query else None


def _page(matches: tuple[MatchSummary, ...], last: IndexEntry | None) -> Response:
    return answer(MatchList(matches, None if last is None else index_entry.encode(last)))

"""Leaderboards, players with their ratings and rated matches, and the rating streams."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Response

from api.http import context
from api.http.responses import answer
from api.requests import strict_fields
from api.requests.blueprint import STORE_PROBLEMS, Blueprint
from api.requests.components import ref
from api.resources.matches import MAX_VERSION
from service.subscriptions.frames import NDJSON
from service.views import ratings
from service.views.ratings import Leaderboard, PlayerPage, RatingEntry, RatingHistory, RatingsFirstLine

blueprint: Final = Blueprint(
    "ratings",
    description="Ratings, leaderboards, and everything that is needed to recompute them.",
    frames=(RatingEntry, RatingsFirstLine),
)

ENTRIES: Final = 200
MOST_ENTRIES: Final = 1_000

_PLAYER: Final = {
    "show_player": {"player": "$response.body#/players/0/player"},
    "list_player_ratings": {"player": "$response.body#/players/0/player"},
}


class LeaderboardQuerySchema(strict_fields.PageSchema):
    kind = strict_fields.Choice(
        "human",
        "hosted",
        metadata={
            "description": "Only people (`human`), or only bots that accounts host (`hosted`). Ratings are of one pool: a person "
            "and a bot with equal ratings are equally strong."
        },
    )


class EntriesQuerySchema(strict_fields.Schema):
    after = strict_fields.DecimalInteger(
        0,
        MAX_VERSION,
        load_default=0,
        metadata={
            "description": "The version of the entry after which the lines begin; 0 for the first line and all entries."
        },
    )
    head = strict_fields.String(
        64,
        pattern="[0-9a-f]{16,64}",
        form="the first 16 to 64 digits of a hash, in lower case",
        metadata={
            "description": "At least 16 digits of the SHA-256 of the line before, as the client knows it: of the entry `after`, or of "
            "the first line. If it has another hash, the answer is `history-diverged`."
        },
    )
    limit = strict_fields.DecimalInteger(
        1,
        MOST_ENTRIES,
        load_default=ENTRIES,
        metadata={"description": f"Maximum number of entries, {ENTRIES} by default."},
    )


@blueprint.at("/v1/games/<game>/leaderboard")
@blueprint.takes(LeaderboardQuerySchema, location="query")
@blueprint.answers_with(200, Leaderboard, description="A page of the leaderboard.")
@blueprint.refuses("game-not-found", *STORE_PROBLEMS)
@blueprint.leads_to(200, **_PLAYER)
def show_leaderboard(query: Mapping[str, Any], game: str) -> Response:
    """Show the leaderboard of a game, best first.

    A place on it needs counted matches with ten different opponents, and a `sigma` of at most 7,000,000. While ratings change,
    `next` continues after the last rating of this page.
    """
    board = query.get("kind", "all")
    return answer(ratings.leaderboard(context.ports(), game, board, query.get("cursor"), query["limit"]))


@blueprint.at("/v1/players/<player>")
@blueprint.answers_with(200, PlayerPage, description="The player.")
@blueprint.refuses("player-not-found", *STORE_PROBLEMS)
def show_player(player: str) -> Response:
    """Show a player: its name, and for each game its rating and how its counted matches ended."""
    return answer(ratings.player_page(context.ports(), player))


@blueprint.at("/v1/players/<player>/ratings")
@blueprint.takes(strict_fields.PageSchema, location="query")
@blueprint.answers_with(200, RatingHistory, description="A page of the player's rated matches.")
@blueprint.refuses("player-not-found", *STORE_PROBLEMS)
@blueprint.leads_to(200, show_match={"match_id": "$response.body#/matches/0/match"})
def list_player_ratings(query: Mapping[str, Any], player: str) -> Response:
    """List the rated matches of a player in all games, newest first, with the rating before and after each."""
    return answer(ratings.history(context.ports(), player, query.get("cursor"), query["limit"]))


@blueprint.at("/v1/games/<game>/ratings")
@blueprint.takes(EntriesQuerySchema, location="query")
@blueprint.answers_with(
    200,
    {
        "type": "array",
        "description": "One JSON object per line: a `RatingsFirstLine` if `after` is 0, then a `RatingEntry` for each rated match.",
        "items": {"oneOf": [ref("RatingsFirstLine"), ref("RatingEntry")]},
    },
    description="The lines, as they are stored.",
    media_types=(NDJSON.media_type,),
)
@blueprint.answers_with(204, description="There are no later entries.")
@blueprint.refuses("game-not-found", "history-diverged", "ratings-corrupt", "engine-too-old", *STORE_PROBLEMS)
def list_rating_entries(query: Mapping[str, Any], game: str) -> Response:
    """List the entries of all rated matches of a game, in the order in which they were rated.

    Entries are chained like the events of a match. From them and the matches anyone can recompute every rating: VERIFYING.md
    says how. To continue, send the version of the last entry as `after`. If the service no longer has that entry, for example
    after a restore from a backup, the answer is `history-diverged`.
    """
    lines = ratings.lines(context.ports(), game, query["after"], query.get("head", ""), query["limit"])
    if not lines:
        return Response(status=204)
    return Response(b"".join(line + b"\n" for line in lines), content_type=NDJSON.media_type)

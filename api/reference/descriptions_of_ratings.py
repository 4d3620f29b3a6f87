"""Descriptions of the properties of ratings, as in `descriptions`."""

from collections.abc import Mapping
from typing import Final

MEANINGS: Final[Mapping[str, str]] = {
    "rating_from": "The least rating of the other players; null without a limit.",
    "rating_to": "The greatest rating of the other players; null without a limit.",
    "rating": "The rating as a whole number: 1000 + 40 · (`mu` − 3 · `sigma`) / 1,000,000, rounded down. A new player has 1000.",
    "SeatView.rating": "The rating of the player in this game; null for a free seat, a bot, and before the first match that counted.",
    "mu": "The estimated skill, in millionths.",
    "sigma": "The uncertainty of the estimate, in millionths; it falls with each match.",
    "ratings": "The player's ratings, in the order of the games; a game without a counted match is absent.",
    "rank": "The rank on the leaderboard of all players; null without a place on it.",
    "LeaderView.rank": "The rank on this leaderboard; 1 is best. Players with equal ratings share it.",
    "RatedMatch.rank": "The rank of the player's seat in the rating; 1 is best. Who left the match ranks behind all that stayed.",
    "RatedSeat.rank": "The rank of the seat in the rating; 1 is best. Who left the match ranks behind all that stayed.",
    "RatingChange.rank": "The rank of the player's seat in the rating; 1 is best. Who left the match ranks behind all that stayed.",
    "opponents": "How many different persons the player met in counted matches: the first ten, as many as a place on the leaderboard "
    "needs. It also needs a `sigma` of at most 7,000,000.",
    "PlayerRating.matches": "How many matches counted.",
    "LeaderView.matches": "How many matches counted.",
    "won": "In how many of them the player alone had rank 1.",
    "shared": "In how many of them the player shared rank 1.",
    "lost": "In how many of them others had rank 1.",
    "counted": "Whether the match changed ratings. It did not if two of its players had met in ten counted matches of that day (UTC).",
    "rated_at": "When the match was rated, in milliseconds since 1970 (UTC).",
    "RatingHistory.matches": "The rated matches of this page.",
    "RatedMatch.version": "The version of the match's entry in `GET /v1/games/{game}/ratings`.",
    "RatingEntry.version": "The number of the entry, from 1 without gaps.",
    "RatingEntry.prev": "The SHA-256 (hex) of the line before.",
    "RatingEntry.salt": "32 random hex digits.",
    "RatingEntry.type": "`match_rated`.",
    "RatingsFirstLine.format": "`moonstone-ratings/1`.",
    "MatchRated.head": "The hash of the match's last event (SHA-256, hex).",
    "MatchRated.seats": "The seats in order, each with the player who had it at the start.",
    "Leaderboard.players": "The players of this page, best first.",
    "LeaderView.kind": "`human`, or `hosted` (a bot that an account hosts).",
}

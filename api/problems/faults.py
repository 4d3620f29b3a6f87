"""Problems that are the service's own: the request may be right, and it may succeed later."""

from collections.abc import Mapping
from typing import Final

import msgspec


class ProblemType(msgspec.Struct, frozen=True):
    """`retry_after` (seconds) is set if the same request, sent again unchanged, may succeed."""

    status: int
    title: str
    cause: str
    remedy: str
    retry_after: int | None = None


REPEAT = "Send the same request again, with the same Idempotency-Key if it has one; it is carried out at most once."

FAULTS: Final[Mapping[str, ProblemType]] = {
    "not-ready": ProblemType(
        503,
        "Not ready",
        "This process cannot serve now; `faults` says why.",
        "Try again later; send requests only to processes that are ready.",
        retry_after=2,
    ),
    "clock-wrong": ProblemType(
        503,
        "Clock wrong",
        "The clock of the process that got this request is more than a second off, so the request was not carried out: what it "
        "does would get a wrong time. Reads still work, except `/v1/me/stream`, whose cursors are times.",
        REPEAT,
        retry_after=2,
    ),
    "bots-busy": ProblemType(
        503, "Bots are busy", "Too many matches of bots alone are waiting.", REPEAT, retry_after=10
    ),
    "store-unavailable": ProblemType(
        503, "Store unavailable", "The log of matches does not respond.", REPEAT, retry_after=2
    ),
    "store-loading": ProblemType(
        503, "Store loading", "The log of matches has just started and is loading its data.", REPEAT, retry_after=5
    ),
    "store-read-only": ProblemType(
        503, "Store read-only", "The log of matches does not accept writes now.", REPEAT, retry_after=10
    ),
    "store-disk": ProblemType(503, "Store cannot write", "The log's disk is full or failing.", REPEAT, retry_after=30),
    "store-full": ProblemType(503, "Store full", "The log's memory is full; reads still work.", REPEAT, retry_after=30),
    "store-replicas": ProblemType(
        503, "Store lacks replicas", "The log has too few replicas to accept writes.", REPEAT, retry_after=10
    ),
    "match-corrupt": ProblemType(
        503,
        "Match corrupt",
        "A stored event of this match does not fit its hash chain. The match is not played or shown; other matches are not "
        "affected. For a private match, strangers get `match-not-found`.",
        "Report the match and the version to the operator. After a repair, the same request with the same key works.",
        retry_after=3600,
    ),
    "ratings-corrupt": ProblemType(
        503,
        "Ratings corrupt",
        "A stored entry of the ratings of this game does not fit its hash chain. No more of its matches are rated; matches and other "
        "games are not affected.",
        "Report the game and the version to the operator. The entries before that version can be read.",
        retry_after=3600,
    ),
    "engine-too-old": ProblemType(
        503,
        "Engine too old",
        "The match, or the ratings, have events that this version of the service does not know. For a private match, strangers get "
        "`match-not-found`.",
        "Send the same request again: a newer process may answer it. If the problem persists, inform the operator.",
        retry_after=60,
    ),
    "internal-error": ProblemType(
        500, "Internal error", "The service failed unexpectedly.", "Report the id in `instance` to the operator."
    ),
}

"""Every problem the API can answer with: its stable code, status, and what a person can do about it. The one table."""

from collections.abc import Mapping
from typing import Final

import msgspec


class ProblemType(msgspec.Struct, frozen=True):
    """`retry_after` (seconds) is told where the same request, sent again unchanged, may succeed."""

    status: int
    title: str
    cause: str
    remedy: str
    retry_after: int | None = None


_REPEAT = "Send the same request again, with the same Idempotency-Key if it has one; it is carried out once at most."

PROBLEM_TYPES: Final[Mapping[str, ProblemType]] = {
    # The request as such
    "bad-request": ProblemType(
        400,
        "Bad request",
        "The request is not well-formed HTTP, its body ended early, or its method takes no body.",
        "Check what the client sends.",
    ),
    "bad-host": ProblemType(
        400,
        "Unknown host",
        "The Host header is missing or names a host that is not served here.",
        "Use the service's own name.",
    ),
    "bad-json": ProblemType(
        400,
        "Not strict JSON",
        "The body is no JSON, or JSON that readers disagree on: duplicate keys, fractions, integers beyond 2^53 − 1, NUL, half "
        "surrogate pairs, more than 16 levels, another encoding than UTF-8.",
        "Send plain JSON in UTF-8; every number in this API is an integer.",
    ),
    "invalid-parameter": ProblemType(
        400,
        "Invalid parameter",
        "A query parameter or header is unknown, repeated, or has a value that it cannot have.",
        "`errors` names each one; the reference lists what there is.",
    ),
    "idempotency-key-invalid": ProblemType(
        400,
        "Invalid Idempotency-Key",
        "An Idempotency-Key is 1 to 64 visible ASCII characters, quoted if a comma is among them; a request has one.",
        "Send a new UUID for each command, and the same one when you repeat it.",
    ),
    "request-timeout": ProblemType(
        408,
        "Request timeout",
        "The body did not arrive within five seconds.",
        "Send the request again, faster.",
        retry_after=1,
    ),
    "body-too-large": ProblemType(
        413,
        "Body too large",
        "No request of this API needs more than 16 KiB, or 32 KiB with the framing of its chunks.",
        "Send only what the schema names, in one piece or in larger chunks.",
    ),
    "unsupported-media-type": ProblemType(
        415,
        "Unsupported media type",
        "Bodies are application/json, uncompressed.",
        "Set Content-Type: application/json.",
    ),
    "invalid-request": ProblemType(
        422,
        "Invalid request",
        "The body is JSON but not what this operation takes.",
        "`errors` points at each fault; the reference has the schema.",
    ),
    "not-found": ProblemType(404, "Not found", "There is nothing at this address.", "See /docs for what there is."),
    "method-not-allowed": ProblemType(
        405, "Method not allowed", "This address does not take this method.", "The Allow header names those it takes."
    ),
    "not-acceptable": ProblemType(
        406, "Not acceptable", "The answer has no form that the Accept header allows.", "The reference lists the forms."
    ),
    # Who asks
    "token-missing": ProblemType(
        401,
        "Token missing",
        "This needs to know who asks.",
        "Send Authorization: Bearer with your token; POST /v1/players makes one.",
    ),
    "token-invalid": ProblemType(
        401,
        "Token invalid",
        "The token is malformed, unknown or revoked.",
        "Check that it was copied whole, or make a new player.",
    ),
    "ticket-invalid": ProblemType(
        401,
        "Ticket invalid",
        "The ticket is malformed or unknown, was used before, or is older than 30 seconds.",
        "POST /v1/stream-tickets makes a new one for each connection.",
    ),
    "forbidden": ProblemType(
        403, "Forbidden", "This is not yours to ask for.", "Use the token of the player whose it is."
    ),
    "not-your-seat": ProblemType(
        403, "Not your seat", "The seat belongs to another player.", "Leave `seat` out, or name one of your own."
    ),
    "not-the-creator": ProblemType(
        403, "Not the creator", "Only the player who created the match may do this.", "Ask that player."
    ),
    "not-seated": ProblemType(
        403, "Not seated", "You have no seat in this match.", "Take a seat first, or watch as a spectator."
    ),
    "rate-limited": ProblemType(
        429, "Too many requests", "You asked too often.", "Wait as long as Retry-After says.", retry_after=1
    ),
    "too-many-streams": ProblemType(
        429, "Too many streams", "You hold as many open streams as allowed.", "Close one first.", retry_after=5
    ),
    "too-many-open-matches": ProblemType(
        429,
        "Too many open matches",
        "You have created as many matches that have not started as allowed.",
        "Start one, or leave it; then create the next.",
    ),
    # What is asked for
    "match-not-found": ProblemType(
        404,
        "Match not found",
        "There is no such match, or it is private and you have no seat in it.",
        "Check the id and the token; to take a seat in a private match, also its join_code.",
    ),
    "game-not-found": ProblemType(404, "Game not found", "There is no game with this id.", "GET /v1/games lists them."),
    "bot-not-found": ProblemType(
        404,
        "Bot not found",
        "There is no such bot, or it does not play this game.",
        "GET /v1/bots lists them with their games.",
    ),
    "version-not-found": ProblemType(
        404, "Version not found", "The match has not come to this version.", "Ask without `version` for the newest."
    ),
    "invalid-options": ProblemType(
        422,
        "Invalid options",
        "The game cannot be played by such a number of seats, with such bots, options or clock.",
        "`errors` points at what does not fit; GET /v1/games/{game} has the seats of the game and the schema of its options.",
    ),
    # Coming and going
    "match-not-open": ProblemType(
        409,
        "Match not open",
        "The match has already started or ended.",
        "GET /v1/matches?status=open lists those that wait.",
    ),
    "match-full": ProblemType(409, "Match full", "Every seat is taken.", "Look for another open match."),
    "seat-taken": ProblemType(409, "Seat taken", "That seat is not free.", "Name one of `free`, or none."),
    "seats-empty": ProblemType(
        409, "Seats empty", "A match starts when every seat is taken.", "Wait for players, or add bots."
    ),
    "already-seated": ProblemType(
        409, "Already seated", "You already have a seat in this match.", "Play it; one seat a player."
    ),
    "match-not-running": ProblemType(
        409, "Match not running", "The match has not started, or is over.", "GET /v1/matches/{id} tells its status."
    ),
    "match-over": ProblemType(
        409,
        "Match over",
        "The match has ended; nothing more can be played. An action that the last round's end overtook is told so too; one that "
        "another round's end overtook is an `illegal-action` whose `reason` may be `round-over`.",
        "Look at its outcome.",
    ),
    "match-suspended": ProblemType(
        409,
        "Match suspended",
        "Play waits until an operator resumes the match; clocks stand still.",
        "Follow its events.",
        retry_after=60,
    ),
    "match-not-suspended": ProblemType(
        409, "Match not suspended", "Only a suspended match can be resumed.", "Nothing is to be done."
    ),
    "match-not-finished": ProblemType(
        409,
        "Match not finished",
        "This is told only after the end, because it holds what seats may not yet know.",
        "Wait for the end.",
    ),
    # Play
    "not-your-turn": ProblemType(
        409,
        "Not your turn",
        "The match waits for no decision of this seat now.",
        "Wait until `decisions` names your seat.",
    ),
    "decision-closed": ProblemType(
        409,
        "Decision closed",
        "The decision you answer is no longer open.",
        "Read the match again and answer the one that is.",
    ),
    "too-late": ProblemType(
        409, "Too late", "The deadline of the decision has passed.", "Read the match again; the clock decided."
    ),
    "too-early": ProblemType(
        409,
        "Too early",
        "The seat may not act before `opens_at`.",
        "Send the same request again then.",
        retry_after=1,
    ),
    "illegal-action": ProblemType(
        409,
        "Illegal action",
        "The rules do not allow this action now; `reason` and `clause` say why, `facts` what it met.",
        "Choose from `legal`, which is left out where there are more than 50: GET /v1/matches/{id}/legal-actions has them all.",
    ),
    "invalid-action": ProblemType(
        422,
        "Invalid action",
        "The game has no such type of action, or its fields are others.",
        "`errors` says what does not fit, `types` which types there are; the reference has their schemas.",
    ),
    "stale-version": ProblemType(
        412,
        "Stale version",
        "The match has moved on from the version in If-Match.",
        "Read the match again, then decide anew.",
    ),
    "history-diverged": ProblemType(
        409,
        "History diverged",
        "The version you know has another head here: the store has lost or replaced events that you have seen.",
        "Read the match again from version 1, and tell the operator.",
    ),
    "version-conflict": ProblemType(
        409, "Version conflict", "Other events came in between, several times over.", _REPEAT, retry_after=1
    ),
    "idempotency-key-reused": ProblemType(
        422,
        "Idempotency-Key reused",
        "This key already belongs to another command in this match.",
        "Use a new key for a new command; repeat a command with the same body.",
    ),
    # The service
    "not-ready": ProblemType(
        503,
        "Not ready",
        "This process cannot serve now; `faults` says why.",
        "Ask again later; balance requests to processes that are ready.",
        retry_after=2,
    ),
    "bots-busy": ProblemType(503, "Bots are busy", "Too many matches of bots alone wait.", _REPEAT, retry_after=10),
    "store-unavailable": ProblemType(
        503, "Store unavailable", "The log of matches does not answer.", _REPEAT, retry_after=2
    ),
    "store-loading": ProblemType(
        503, "Store loading", "The log of matches has just started and reads its file.", _REPEAT, retry_after=5
    ),
    "store-read-only": ProblemType(
        503, "Store read-only", "The log of matches takes no writes now.", _REPEAT, retry_after=10
    ),
    "store-disk": ProblemType(503, "Store cannot write", "The log's disk is full or failing.", _REPEAT, retry_after=30),
    "store-full": ProblemType(503, "Store full", "The log's memory is full; reading goes on.", _REPEAT, retry_after=30),
    "store-replicas": ProblemType(
        503, "Store lacks replicas", "The log has fewer replicas than it needs to write.", _REPEAT, retry_after=10
    ),
    "match-corrupt": ProblemType(
        503,
        "Match corrupt",
        "A stored event of this match is not what its chain says; nothing of it is played or shown. Other matches go on. "
        "Strangers to a private match are told `match-not-found`.",
        "Tell the operator the match and the version; once it is restored, the same request with the same key may be sent.",
        retry_after=3600,
    ),
    "engine-too-old": ProblemType(
        503,
        "Engine too old",
        "The match holds events that this version of the service does not know. Strangers to a private match are told "
        "`match-not-found`.",
        "Send the same request again: another process may know them by then. If it goes on, tell the operator.",
        retry_after=60,
    ),
    "internal-error": ProblemType(
        500, "Internal error", "The service failed in an unforeseen way.", "Tell the operator the id in `instance`."
    ),
}

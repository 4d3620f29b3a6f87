"""The table of all problems that the API can answer with: stable code, status, cause and remedy."""

from collections.abc import Mapping
from typing import Final

from api.problems.faults import FAULTS, REPEAT, ProblemType
from api.problems.of_matches import OF_MATCHES

PROBLEM_TYPES: Final[Mapping[str, ProblemType]] = {
    "bad-request": ProblemType(
        400,
        "Bad request",
        "The request is not well-formed HTTP, its body ended early, or its method takes no body.",
        "Check what the client sends.",
    ),
    "bad-host": ProblemType(
        400,
        "Unknown host",
        "The Host header is missing, or names a host that is not served here.",
        "Use the host name of the service.",
    ),
    "bad-json": ProblemType(
        400,
        "Not strict JSON",
        "The body is not JSON, or JSON that parsers read differently: duplicate keys, fractions, integers beyond 2^53 − 1, "
        "NUL, lone surrogates, more than 16 levels, or another encoding than UTF-8.",
        "Send plain JSON in UTF-8; every number in this API is an integer.",
    ),
    "invalid-parameter": ProblemType(
        400,
        "Invalid parameter",
        "A query parameter or header is unknown, is repeated, or has an invalid value.",
        "`errors` names each one; the reference lists the valid ones.",
    ),
    "idempotency-key-invalid": ProblemType(
        400,
        "Invalid Idempotency-Key",
        "A request may have one Idempotency-Key of 1 to 64 visible ASCII characters. A key with a comma must be quoted.",
        "Send a new UUID for each command, and the same one when you repeat it.",
    ),
    "request-timeout": ProblemType(
        408,
        "Request timeout",
        "The body did not arrive within five seconds.",
        "Send the request again; its whole body must arrive in time.",
        retry_after=1,
    ),
    "body-too-large": ProblemType(
        413,
        "Body too large",
        "A body may have at most 16 KiB, or 32 KiB with the framing of its chunks.",
        "Send only what the schema names, in one piece or in larger chunks.",
    ),
    "unsupported-media-type": ProblemType(
        415,
        "Unsupported media type",
        "A body must be application/json, uncompressed.",
        "Set Content-Type: application/json.",
    ),
    "invalid-request": ProblemType(
        422,
        "Invalid request",
        "The body is JSON, but does not fit the schema of this operation.",
        "`errors` has the position of each fault; the reference has the schema.",
    ),
    "not-found": ProblemType(404, "Not found", "Nothing is here; /docs lists all addresses.", "Correct the address."),
    "method-not-allowed": ProblemType(
        405,
        "Method not allowed",
        "This address does not support this method.",
        "The Allow header lists the methods that it supports.",
    ),
    "not-acceptable": ProblemType(
        406,
        "Not acceptable",
        "The answer has no media type that the Accept header allows.",
        "The reference lists the media types.",
    ),
    "token-missing": ProblemType(
        401,
        "Token missing",
        "This operation needs a token.",
        "Send Authorization: Bearer with your token; POST /v1/players creates one.",
    ),
    "token-invalid": ProblemType(
        401,
        "Token invalid",
        "The token is malformed, unknown, expired or revoked.",
        "Check that the token is complete. A recovery code gets a new one: POST /v1/recoveries.",
    ),
    "recovery-code-invalid": ProblemType(
        401,
        "Recovery code invalid",
        "The recovery code is malformed or wrong, or was renewed.",
        "Check that the code is complete, and that it is the newest one.",
    ),
    "ticket-invalid": ProblemType(
        401,
        "Ticket invalid",
        "The ticket is malformed or unknown, was used before, or is older than 30 seconds.",
        "POST /v1/stream-tickets creates a new one; each connection needs its own.",
    ),
    "scope-missing": ProblemType(
        403,
        "Scope missing",
        "The token does not have the scope that this operation needs; `scope` names it.",
        "Use another token of the player. `POST /v1/me/tokens` makes one with the scopes you want.",
    ),
    "forbidden": ProblemType(
        403, "Forbidden", "This belongs to another player.", "Use the token of the player to whom it belongs."
    ),
    "not-your-seat": ProblemType(
        403, "Not your seat", "The seat belongs to another player.", "Omit `seat`, or name your own."
    ),
    "not-the-creator": ProblemType(
        403, "Not the creator", "Only the player who created the match may do this.", "Ask that player."
    ),
    "invitation-expired": ProblemType(
        403, "Invitation expired", "The invitation is older than its time.", "Ask the person who sent it for a new one."
    ),
    "not-seated": ProblemType(
        403, "Not seated", "You have no seat in this match.", "Take a seat first, or watch as a spectator."
    ),
    "rate-limited": ProblemType(
        429,
        "Too many requests",
        "You sent more requests than allowed.",
        "Wait as long as Retry-After says.",
        retry_after=1,
    ),
    "too-many-streams": ProblemType(
        429, "Too many streams", "You have the maximum number of open streams.", "Close one first.", retry_after=5
    ),
    "too-many-tokens": ProblemType(
        429,
        "Too many tokens",
        "You have the maximum number of tokens.",
        "Revoke those that you do not use; `GET /v1/me/tokens` lists them.",
    ),
    "too-many-open-matches": ProblemType(
        429,
        "Too many open matches",
        "You have the maximum number of matches that have not started.",
        "Start one, or leave it; then create the next.",
    ),
    "too-many-seats": ProblemType(
        429,
        "Too many seats",
        "You have the maximum number of seats in matches that have not started.",
        "Leave one of these matches, or wait until one starts or ends.",
    ),
    "seek-not-found": ProblemType(
        404,
        "Seek not found",
        "You have no seek with this id, it has ended, or it led to a match more than an hour ago.",
        "`GET /v1/me/matches` lists your matches. Seek again if you still want one.",
    ),
    "already-seeking": ProblemType(
        409, "Already seeking", "You have another seek; a player has one at a time.", "End it with DELETE, or wait."
    ),
    "too-many-seeks": ProblemType(
        429,
        "Too many seeks",
        "The maximum number of players is waiting.",
        "Send the request again later.",
        retry_after=5,
    ),
    "token-not-found": ProblemType(
        404,
        "Token not found",
        "You have no token with this id, or it was revoked, or it expired.",
        "`GET /v1/me/tokens` lists the ids of your tokens.",
    ),
    "too-many-webhooks": ProblemType(
        429,
        "Too many webhooks",
        "You have the maximum number of webhooks.",
        "Delete one that you do not use; `GET /v1/me/webhooks` lists them.",
    ),
    "webhook-not-found": ProblemType(
        404,
        "Webhook not found",
        "You have no webhook with this id, or it was deleted.",
        "`GET /v1/me/webhooks` lists your webhooks.",
    ),
    "webhook-not-active": ProblemType(
        409,
        "Webhook not active",
        "The webhook was ended or suspended; its `reason` says why.",
        "Repair the receiver, and change the webhook with `active` true.",
    ),
    "delivery-not-found": ProblemType(
        404,
        "Delivery not found",
        "The webhook has no delivery of this notice, or it is older than a week.",
        "`GET /v1/me/webhooks/{webhook_id}/deliveries` lists those that are kept.",
    ),
    "player-not-found": ProblemType(
        404,
        "Player not found",
        "No player has this id, or the account was erased.",
        "Use the id of a player as seats and events show it. An erased account stays in matches and on leaderboards, without a page.",
    ),
    "match-not-found": ProblemType(
        404,
        "Match not found",
        "No match has this id, or it is private and you have no seat in it.",
        "Check the id and the token. To take a seat in a private match, also check its join_code.",
    ),
    "game-not-found": ProblemType(404, "Game not found", "There is no game with this id.", "GET /v1/games lists them."),
    "bot-not-found": ProblemType(
        404,
        "Bot not found",
        "There is no such bot, or it does not play this game.",
        "GET /v1/bots lists them with their games.",
    ),
    "bot-not-allowed": ProblemType(
        403,
        "Bot not allowed",
        "The owner of this hosted bot gives it seats only in person.",
        "Ask the owner, or use another bot: GET /v1/bots lists those that everyone may seat.",
    ),
    "bot-busy": ProblemType(
        429,
        "Bot busy",
        "This hosted bot plays as many matches as its owner allows.",
        "Try again when one of its matches has ended, or use another bot.",
        retry_after=60,
    ),
    "too-many-bots": ProblemType(
        429,
        "Too many bots",
        "You have the maximum number of hosted bots.",
        "Delete those that you do not use; `GET /v1/me/bots` lists them.",
    ),
    "version-not-found": ProblemType(
        404, "Version not found", "The match does not have this version yet.", "Omit `version` to get the newest."
    ),
    "invalid-options": ProblemType(
        422,
        "Invalid options",
        "The game does not allow this number of seats, or these bots, options or clock.",
        "`errors` names the fault; GET /v1/games/{game} has the game's numbers of seats and the schema of its options.",
    ),
    **OF_MATCHES,
    "stale-version": ProblemType(
        412,
        "Stale version",
        "The match has a newer version than the one in If-Match.",
        "Read the match again, and send a command for its newest version.",
    ),
    "history-diverged": ProblemType(
        409,
        "History diverged",
        "The version you know has another hash here: the store has lost or replaced events, or entries of ratings, that you have "
        "seen.",
        "Read the match, or the ratings, again from version 1, and inform the operator.",
    ),
    "version-conflict": ProblemType(
        409, "Version conflict", "Other commands were first, several times in a row.", REPEAT, retry_after=1
    ),
    "idempotency-key-reused": ProblemType(
        422,
        "Idempotency-Key reused",
        "You have already used this key for another command in this match.",
        "Use a new key for a new command; repeat a command with the same body.",
    ),
    **FAULTS,
}

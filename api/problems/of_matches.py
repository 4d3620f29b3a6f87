"""The problems of seats and play: what the state of a match does not allow."""

from collections.abc import Mapping
from typing import Final

from api.problems.faults import ProblemType

OF_MATCHES: Final[Mapping[str, ProblemType]] = {
    "match-not-open": ProblemType(
        409,
        "Match not open",
        "The match has already started or ended.",
        "GET /v1/matches?status=open lists the matches that wait for players.",
    ),
    "match-full": ProblemType(409, "Match full", "Every seat is taken.", "Look for another open match."),
    "seat-taken": ProblemType(409, "Seat taken", "That seat is not free.", "Name one of `free`, or omit `seat`."),
    "seat-free": ProblemType(
        409, "Seat free", "Nobody has this seat.", "GET /v1/matches/{id} shows who has which seat."
    ),
    "seats-empty": ProblemType(
        409, "Seats empty", "A match can start only when every seat is taken.", "Wait for players, or add bots."
    ),
    "already-seated": ProblemType(
        409, "Already seated", "You already have a seat in this match.", "Play this seat: a player may have only one."
    ),
    "match-not-running": ProblemType(
        409, "Match not running", "The match has not started, or is over.", "GET /v1/matches/{id} shows its status."
    ),
    "match-over": ProblemType(
        409,
        "Match over",
        "The match has ended, so no action is possible. An action that arrives after the end of the last round gets this "
        "too; after the end of another round it gets `illegal-action`, for example with the `reason` `round-over`.",
        "Read its outcome.",
    ),
    "match-suspended": ProblemType(
        409,
        "Match suspended",
        "No action is possible until an operator resumes the match. Its clocks are stopped.",
        "Follow its events, or try again later.",
        retry_after=60,
    ),
    "match-not-suspended": ProblemType(
        409, "Match not suspended", "Only a suspended match can be resumed.", "Nothing needs to be done."
    ),
    "match-not-finished": ProblemType(
        409,
        "Match not finished",
        "This is available only after the end, because it contains hidden information.",
        "Wait for the end.",
    ),
    "match-too-old": ProblemType(
        409,
        "Match too old",
        "The match began under an older format, which has no event for this.",
        "Play it to its end without this; matches that begin now can do it.",
    ),
    "match-rated": ProblemType(
        409,
        "Match rated",
        "In a rated match nobody else seats a bot, nobody takes a seat back from a bot, and it is not aborted by agreement.",
        "Play it to its end, or leave it. A hosted bot takes a seat with its own token. Matches that are not rated allow all of this.",
    ),
    "bot-deciding": ProblemType(
        409,
        "Bot deciding",
        "The bot that plays the seat has a decision open.",
        "Send the same request again after the bot's move.",
        retry_after=1,
    ),
    "seat-not-absent": ProblemType(
        409,
        "Seat not absent",
        "The seat belongs to no other person, its decision has a deadline, or it has not kept the match waiting for 14 days.",
        "`opens_at` of its decision says since when the match waits for it.",
    ),
    "not-your-turn": ProblemType(
        409, "Not your turn", "This seat has no open decision.", "Wait until `decisions` names your seat."
    ),
    "decision-closed": ProblemType(
        409,
        "Decision closed",
        "The decision named in the request is not open any more.",
        "Read the match again, and answer a decision that is open.",
    ),
    "too-late": ProblemType(
        409,
        "Too late",
        "The deadline of the decision has passed.",
        "Read the match again: the service applies what its clock's `on_timeout` says.",
    ),
    "too-early": ProblemType(
        409,
        "Too early",
        "The seat may not act before `opens_at`.",
        "Send the same request again at that time.",
        retry_after=1,
    ),
    "illegal-action": ProblemType(
        409,
        "Illegal action",
        "The rules do not allow this action now. `reason` and `clause` say why; `facts` has details.",
        "Choose from `legal`. It is absent if there are more than 50: GET /v1/matches/{id}/legal-actions lists all.",
    ),
    "invalid-action": ProblemType(
        422,
        "Invalid action",
        "The game has no action of this type, or the action does not fit the schema of its type.",
        "`errors` says what is wrong, `types` lists the types; the reference has their schemas.",
    ),
}

"""Points at which a test can end the process as a kill -9 would, to check the state that a crash there leaves behind.

They do nothing unless the environment names one: `CRASH_AT=<point>`, or `<point>:<n>` for the n-th time it is reached.
"""

import os
from collections import Counter
from typing import Final, Literal, TypeAlias

Point: TypeAlias = Literal[
    "create-indexed",  # the index has the new match, the log does not
    "create-appended",  # the log has the new match, no answer was sent
    "append-decided",  # a command was decided, but not written
    "append-written",  # the command is in the log, but was not answered
    "command-hinted",  # the workers have the hint; the index is not updated and the client has no answer
    "job-played",  # a job is done, but the next due time is not written
    "match-scored",  # the log has the end of the match, the index does not
    "match-expired",  # the log has the end of a match that nobody started, the index does not
    "job-claimed",  # a worker has claimed a job from the log, but not played it
    "deadlines-enforced",  # the log has the default action, the due entry is not corrected
    "rating-decided",  # the entry of a rated match is computed, but not written
    "rating-appended",  # the rating stream has the entry, the leaderboards do not
    "rating-folded",  # the leaderboards have the entry, the due entry is still there
    "match-rated",  # the match is rated, the due entry is still there
    "seeks-paired",  # seeks are a pairing, whose match is not created
    "player-added",  # the player is stored, the token is not
    "bot-listed",  # the owner's list has a new bot, nothing else is stored of it
    "token-listed",  # the account lists a new token, whose digest does not lead to it yet
    "token-revoked",  # the account does not list a token any more, whose digest still leads to it
    "tokens-replaced",  # the same for all tokens but one; after a recovery, that one does not work yet
    "erasure-begun",  # an account is to be erased, and nothing else has happened
    "account-erased",  # its tokens are invalid, its name is stored
    "name-erased",  # its name is gone, the keys of its tokens are not
    "seat-left",  # a match was left for an erased account, others were not
    "news-recorded",  # the deliveries of a match are stored, the due entry of its news is not corrected
    "delivery-taken",  # deliveries are reserved for this process, none was attempted
    "delivery-answered",  # a webhook has answered, what became of the delivery is not stored
    "calls-begun",  # a hosted bot is about to be called, which is noted
    "call-answered",  # a hosted bot has answered, or failed to; nothing follows from it yet
    "answer-applied",  # the match has the action of an answer, how the task ended is not noted
    "fallback-applied",  # the match has what follows from a failure, how the task ended is not noted
    "erasure-listed",  # an account is in the list of the erased ones, and in that of those to erase
]

VARIABLE: Final = "CRASH_AT"
KILLED: Final = 137
"""The exit status of a process that was killed with SIGKILL, as a shell reports it (128 + 9)."""

_passed: Final[Counter[str]] = Counter()
_wanted: Final[list[str]] = list(filter(None, [os.environ.get(VARIABLE)]))


def arm(point_name: str) -> None:
    """End this process at a point from now on, as `CRASH_AT` would."""
    _wanted.append(point_name)


def point(name: Point) -> None:
    """End the process here if this point was chosen."""
    if _wanted:
        _passed[name] += 1
        if not {name, f"{name}:{_passed[name]}"}.isdisjoint(_wanted):
            os._exit(KILLED)

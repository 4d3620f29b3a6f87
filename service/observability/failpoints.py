"""Points at which a test ends the process as a kill -9 would, to see what a crash just there leaves behind.

Nothing ever happens at them unless the environment names one: `CRASH_AT=<point>`, or `<point>:<n>` for the n-th time.
"""

import os
from collections import Counter
from typing import Final, Literal, TypeAlias

Point: TypeAlias = Literal[
    "create-indexed",  # the index has the new match, the log does not
    "create-appended",  # the log has it, nobody was told
    "append-decided",  # a command was decided and nothing is written
    "append-written",  # it is in the log, and its answer is not
    "command-hinted",  # the workers know of it, the index and the client do not
    "job-played",  # a job is done and what is due next is not
    "match-scored",  # the log has the end, the index does not
    "job-claimed",  # a sweeper has taken a job that the queue does not have
    "deadlines-enforced",  # the log has the default action, the due entry is not mended
    "player-added",  # a player has no token yet
]

VARIABLE: Final = "CRASH_AT"
KILLED: Final = 137

_passed: Final[Counter[str]] = Counter()
_wanted: Final[list[str]] = list(filter(None, [os.environ.get(VARIABLE)]))


def arm(where: str) -> None:
    """From now on let this process end at a point, as the environment may say at its start."""
    _wanted.append(where)


def point(name: Point) -> None:
    """End the process here, if that is wanted."""
    if _wanted:
        _passed[name] += 1
        if not {name, f"{name}:{_passed[name]}"}.isdisjoint(_wanted):
            os._exit(KILLED)

"""The decisions of match files as rows: what a seat knew, how long its legal list was, what it did, how it ended.

A row is made for each `action` and `default_action`. Its observation and its legal list are those of the acting seat at
the version right before the event, as `GET /v1/matches/{id}?version=` shows them to that seat.
"""

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from events.record import MatchId, Version, decode
from service.audit.dump_writer import written
from service.audit.match_file import split
from service.audit.verify import Fault, verify
from service.games.protocol import AnyGame, Outcome
from service.games.visibility import Seat
from service.match.events import DefaultReason, SeatKind
from service.match.fold import begin, step
from service.match.model import Match
from service.match.redecide import is_current

COLUMNS: Final[Mapping[str, str]] = {
    "match": "VARCHAR",
    "game": "VARCHAR",
    "ruleset": "INTEGER",
    "options": "JSON",
    "seats": "INTEGER",
    "version": "INTEGER",
    "acted_at": "BIGINT",
    "seat": "INTEGER",
    "player": "VARCHAR",
    "kind": "VARCHAR",
    "step": "VARCHAR",
    "legal_count": "INTEGER",
    "observation": "JSON",
    "action": "JSON",
    "reason": "VARCHAR",
    "score": "INTEGER",
    "rank": "INTEGER",
    "won": "BOOLEAN",
}
"""The columns of the Parquet table with their types in DuckDB."""

_DECIDED: Final = frozenset({"action", "default_action"})
"""The types of the events that a row is made for."""
_ROW_GROUP: Final = 10_000
"""Rows that DuckDB keeps in memory. An observation has some kilobytes."""
_MAX_ROW_BYTES: Final = 1 << 26


class Missing(Exception):
    """DuckDB is not installed."""


class Failed(Exception):
    """DuckDB cannot write the table; the text says why."""


class Unusable(Exception):
    """A match file gives no rows; the text says why."""


class Row(msgspec.Struct, frozen=True):
    """One decision. `observation` and `legal_count` are those of `seat` at `version`; the event follows this version.

    `acted_at` is the server time of the event in milliseconds. `player` is the name of a bot, or the id of a person. An
    entry of the legal list with a pattern counts as one. `reason` is null for an action that the seat took itself.
    `score`, `rank` and `won` are the seat's outcome.
    """

    match: MatchId
    game: str
    ruleset: int
    options: Mapping[str, Any]
    seats: int
    version: Version
    acted_at: int
    seat: Seat
    player: str
    kind: SeatKind
    step: str
    legal_count: int
    observation: msgspec.Raw
    action: msgspec.Raw
    reason: DefaultReason | None
    score: int
    rank: int
    won: bool


class _Taken(msgspec.Struct, frozen=True):
    seat: Seat
    action: msgspec.Raw
    reason: DefaultReason | None = None


def rows(lines: Iterable[bytes], games: Mapping[str, AnyGame]) -> Sequence[Row]:
    """The decisions of a match file, in order; none if the match was aborted. The file is verified.

    Raises:
        Unusable: the file has a fault, or its rules or its ruleset are not those of this release.
    """
    kept = list(lines)
    try:
        verdict = verify(kept, games)
    except Fault as fault:
        raise Unusable(str(fault)) from None
    if not is_current(verdict.match):
        ruleset = verdict.match.created.ruleset
        raise Unusable(f"the match {verdict.match.id} was played by ruleset {ruleset}, which has no lists here")
    first, stored = split(kept)
    match = begin(first.match, stored[0], games)
    taken: list[tuple[Match, _Taken, int]] = []
    for entry in stored[1:]:
        before, match = match, step(match, entry)
        event = decode(entry)
        if event.type in _DECIDED:
            taken.append((before, msgspec.json.decode(event.data, type=_Taken), event.at))
    if match.outcome is None:  # it was aborted
        return []
    return [_row(before, one, at, match.outcome) for before, one, at in taken]


def _row(before: Match, taken: _Taken, at: int, outcome: Outcome) -> Row:
    seat, holder = taken.seat, before.seats[taken.seat]
    observation = before.observation(seat)
    if holder is None or observation is None:  # no verified file has such an action
        raise Unusable(f"version {before.head.version + 1}: an action without a seat or a table")
    return Row(
        match=before.id,
        game=before.created.game,
        ruleset=before.created.ruleset,
        options=before.created.options,
        seats=len(before.seats),
        version=before.head.version,
        acted_at=at,
        seat=seat,
        player=holder.player,
        kind=holder.kind,
        step=next((one.step for one in before.decisions() if one.seat == seat), ""),
        legal_count=sum(1 for _ in before.game.legal_actions(before.state, seat)),
        observation=observation,
        action=taken.action,
        reason=taken.reason,
        score=outcome.scores[seat],
        rank=outcome.ranks[seat],
        won=seat in outcome.winners,
    )


def write(rows_of_matches: Iterable[Sequence[Row]], target: Path) -> int:
    """Write rows as a Parquet file, which appears only when it is complete; returns their number.

    The rows of one match are in memory at a time; all are kept in a file beside the target until DuckDB has read them.

    Raises:
        Missing: DuckDB is not installed.
        Failed: it cannot write the table, for example because the disk is full.
    """
    try:
        import duckdb  # noqa: PLC0415  (an extra, which no other command needs)
    except ImportError:
        raise Missing from None
    count = 0
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
        lines, draft = Path(folder, "rows.ndjson.zst"), Path(folder, "rows.parquet")
        encoder = msgspec.json.Encoder()
        with lines.open("wb") as file, written(file) as packed:
            for found in rows_of_matches:
                packed.write(encoder.encode_lines(found))
                count += len(found)
        try:
            with duckdb.connect(config=_CONFIG) as database:
                database.execute(_copy(lines, draft))
        except duckdb.Error as error:
            raise Failed(str(error).partition("\n")[0]) from error
        with draft.open("rb") as done:
            os.fsync(done.fileno())
        draft.replace(target)
    return count


_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "memory_limit": "1GB",
    "threads": 2,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
"""DuckDB needs neither the network nor much memory for this."""


def _copy(lines: Path, target: Path) -> str:
    """The SQL that turns a file of rows into a Parquet file."""
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items())
    return (
        f"COPY (SELECT * FROM read_json({_quoted(lines)}, format='newline_delimited', compression='zstd', "  # noqa: S608
        f"maximum_object_size={_MAX_ROW_BYTES}, columns={{{columns}}})) "
        f"TO {_quoted(target)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROW_GROUP})"
    )


def _quoted(path: Path) -> str:
    """A path as a string of SQL."""
    return "'" + str(path).replace("'", "''") + "'"

"""The newest version and hash of each match and each rating stream, saved outside the log in a SQLite file of the data folder.

A log that lost its newest part looks like a complete log of an earlier time; nothing inside it shows the loss. This file
does. It contains the newest head of every match, as of the last minute, and a mark: a counter that the log increments each
time heads are saved. If the log's mark is lower than the file's, the log has lost acknowledged data. The hash of a head
covers all earlier events, so a saved head also shows that the past of a match was rewritten.
"""

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from redis import Redis, RedisCluster

from events.record import Head, MatchId, digest
from events.redis_keys import key
from events.redis_log import send
from events.redis_replies import field_dict

FILE: Final = "heads.db"
MARK: Final = "mark"
"""The key of the mark in the log's server."""
RECENT: Final = 1_000
"""How many heads are compared at a start. They are the ones saved last, since a loss affects the newest data."""
BATCH: Final = 500
"""Maximum number of matches in a read."""

_FORMAT: Final = 1
_SCHEMA: Final = """
BEGIN;
CREATE TABLE heads (
  match TEXT PRIMARY KEY, version INTEGER NOT NULL, hash BLOB NOT NULL, kept INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE state (store TEXT NOT NULL, mark INTEGER NOT NULL, at INTEGER NOT NULL);
INSERT INTO state VALUES ('', 0, 0);
PRAGMA user_version = 1;
COMMIT;
"""
"""`kept`: the mark at which the head was saved. `state` has one row; `at` is the time of the last save in milliseconds."""

T = TypeVar("T")


class BadHeads(Exception):
    """The file cannot be used; the text says why and what to do."""


class Missing(NamedTuple):
    """A saved head that the log no longer holds."""

    match: MatchId
    version: int
    fault: str


@contextmanager
def _usable(file: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise BadHeads(
            f"{file} holds the log's saved heads, but cannot be used ({error}); remove it to go on without them"
        ) from error


class Heads:
    """The file; created if it does not exist.

    store: the id of the store whose heads it holds.
    mark: the log's mark at the last save.
    at: the time of the last save in milliseconds; 0 if there was none.

    Raises:
        BadHeads: it is another kind of file, or was written by a newer release.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        with _usable(file), ExitStack() as stack:
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            # Several threads use it, but never at the same time.
            self._db = stack.enter_context(closing(sqlite3.connect(file, check_same_thread=False)))
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version not in {0, _FORMAT}:
                raise BadHeads(f"{file} was written by a newer release of moonstone")
            if not version:
                self._db.executescript(_SCHEMA)
            state: tuple[str, int, int] = self._db.execute("SELECT store, mark, at FROM state").fetchone()
            stack.pop_all()
        self.store, self.mark, self.at = state

    def close(self) -> None:
        self._db.close()

    def reset(self, store: str) -> None:
        """Delete all heads, and save those of this store from now on."""
        with self._db:
            self._db.execute("DELETE FROM heads")
            self._db.execute("UPDATE state SET store = ?, mark = 0, at = 0", (store,))
        self.store, self.mark, self.at = store, 0, 0

    def of(self, matches: Sequence[MatchId]) -> Mapping[MatchId, Head]:
        """The saved heads of some matches."""
        parameters = ", ".join("?" * len(matches))
        query = f"SELECT match, version, hash FROM heads WHERE match IN ({parameters})"  # noqa: S608  (question marks)
        return dict(map(_row, self._db.execute(query, matches)))

    def newest(self, most: int = -1) -> Sequence[tuple[MatchId, Head]]:
        """Saved heads, those saved last first; all of them if `most` is negative."""
        query = "SELECT match, version, hash FROM heads ORDER BY kept DESC LIMIT ?"
        with _usable(self._file):
            # Read into a list, because an open query would block the thread that saves heads.
            return [_row(row) for row in self._db.execute(query, (most,))]

    def keep(self, heads: Mapping[MatchId, Head], mark: int) -> None:
        """Save the newest heads of some matches, all or none."""
        rows = ((match, head.version, bytes.fromhex(head.hash), mark) for match, head in heads.items())
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO heads VALUES (?, ?, ?, ?)", rows)

    def record_mark(self, mark: int, at: int) -> None:
        """Record that all heads were saved at time `at`, after the log had incremented its mark to `mark`."""
        with self._db:
            self._db.execute("UPDATE state SET mark = ?, at = ?", (mark, at))
        self.mark, self.at = mark, at


def _row(row: tuple[MatchId, int, bytes]) -> tuple[MatchId, Head]:
    return row[0], Head(row[1], row[2].hex())


def found(file: Path, store: str) -> Heads | None:
    """The heads of a store; None if the file does not exist or holds no heads of this store."""
    if not file.exists():
        return None
    heads = Heads(file)
    if heads.store == store and heads.at:
        return heads
    heads.close()
    return None


def delete(file: Path) -> None:
    """Delete the file, so that a log that was restored from a backup starts without heads."""
    file.unlink(missing_ok=True)


def stored_matches(client: Redis | RedisCluster) -> Iterator[MatchId]:
    """The ids of all matches and rating streams of a log; an id may occur more than once."""
    suffix = ":events"
    for prefix in ("", "ratings:"):
        for name in client.scan_iter(match=f"{prefix or 'match:'}*{suffix}", count=1000):
            yield prefix + name.decode().removesuffix(suffix).rpartition(":")[2]


def newest_heads(client: Redis | RedisCluster, matches: Sequence[MatchId]) -> Mapping[MatchId, Head]:
    """The heads of those matches that have events.

    Raises:
        LogUnavailable: the server does not answer.
    """
    replies = send(client, *(("XREVRANGE", key(match, "events"), "+", "-", "COUNT", 1) for match in matches))
    return {match: _head(*reply[0]) for match, reply in zip(matches, replies, strict=True) if reply}


def missing(client: Redis | RedisCluster, kept: Iterable[tuple[MatchId, Head]]) -> Iterator[Missing]:
    """The saved heads that a log does not hold.

    Raises:
        LogUnavailable: the server does not answer.
    """
    for some in batches(kept):
        asked = (
            ("XRANGE", key(match, "events"), f"{head.version}-0", f"{head.version}-0", "COUNT", 1)
            for match, head in some
        )
        for (match, head), reply in zip(some, send(client, *asked), strict=True):
            if not reply:
                yield Missing(match, head.version, "the log held it and no longer does")
            elif _head(*reply[0]) != head:
                yield Missing(match, head.version, "the log now holds another event at this version")


def lost_mark(client: Redis | RedisCluster, heads: Heads) -> bool:
    """Whether the log lost data that it acknowledged before the last save of heads."""
    (reply,) = send(client, ("GET", MARK))
    return int(reply or 0) < heads.mark


def raise_mark(client: Redis | RedisCluster) -> int:
    """Increment the log's mark. The new mark is on the disk only together with everything acknowledged before."""
    mark: int
    (mark,) = send(client, ("INCR", MARK))
    return mark


def batches(items: Iterable[T]) -> Iterator[Sequence[T]]:
    rest = iter(items)
    while some := list(islice(rest, BATCH)):
        yield some


def utc(ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ms // 1000))


def _head(entry: bytes, fields: Sequence[bytes] | dict[bytes, bytes]) -> Head:
    return Head(int(entry.partition(b"-")[0]), digest(field_dict(fields).get(b"e", b"")))

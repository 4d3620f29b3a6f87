"""How far the log went, kept outside it: the newest version and hash of each match, in a file of the data folder.

A log that lost its newest part is a whole log of an earlier time: nothing inside it says that anything is missing. The
file does. It holds the newest head of every match, as of some minute, and a mark: a number that the log counts up each
time heads are kept. A log whose mark is lower has lost something of all that it acknowledged before, whatever it was. As
the hash of a head covers all events before it, a kept head also tells a match whose past was written anew.
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
from events.redis_log import pairs, send

FILE: Final = "heads.db"
MARK: Final = "mark"
"""The log's key of its mark."""
RECENT: Final = 1_000
"""So many heads are compared at a start, those kept last: what a log loses of its end, it loses of them too."""
BATCH: Final = 500

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
"""`kept`: the mark with which the head was kept. `state` has one row; `at` is when heads were kept last, in milliseconds."""

T = TypeVar("T")


class BadHeads(Exception):
    """The file cannot be used; the text says why and what to do."""


class Missing(NamedTuple):
    """What the log held and no longer holds."""

    match: MatchId
    version: int
    fault: str


@contextmanager
def _usable(file: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise BadHeads(
            f"{file} should say how far the log went, but cannot be used ({error}); remove it to go on without"
        ) from error


class Heads:
    """The file, made where there is none.

    `store` is the id of the store whose heads it holds, `mark` the log's mark when they were kept last, and `at` that time
    in milliseconds: 0 if none were kept.

    Raises:
        BadHeads: it is no such file, or a newer release's.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        with _usable(file), ExitStack() as stack:
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            # One thread after the other uses it.
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

    def begin(self, store: str) -> None:
        """Forget what was kept, and keep the heads of this store from now on."""
        with self._db:
            self._db.execute("DELETE FROM heads")
            self._db.execute("UPDATE state SET store = ?, mark = 0, at = 0", (store,))
        self.store, self.mark, self.at = store, 0, 0

    def of(self, matches: Sequence[MatchId]) -> Mapping[MatchId, Head]:
        """The kept heads of some matches."""
        places = ", ".join("?" * len(matches))
        query = f"SELECT match, version, hash FROM heads WHERE match IN ({places})"  # noqa: S608  (only question marks)
        return dict(map(_row, self._db.execute(query, matches)))

    def newest(self, most: int = -1) -> Sequence[tuple[MatchId, Head]]:
        """Kept heads, those kept last first; all of them if `most` is negative."""
        query = "SELECT match, version, hash FROM heads ORDER BY kept DESC LIMIT ?"
        with _usable(self._file):
            # Read at once, for an open query would hold up the keeper.
            return [_row(row) for row in self._db.execute(query, (most,))]

    def keep(self, heads: Mapping[MatchId, Head], mark: int) -> None:
        """Keep heads, all or none, as the newest of their matches."""
        rows = ((match, head.version, bytes.fromhex(head.hash), mark) for match, head in heads.items())
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO heads VALUES (?, ?, ?, ?)", rows)

    def settle(self, mark: int, at: int) -> None:
        """Heads are kept, after the log raised its mark to this one."""
        with self._db:
            self._db.execute("UPDATE state SET mark = ?, at = ?", (mark, at))
        self.mark, self.at = mark, at


def _row(row: tuple[MatchId, int, bytes]) -> tuple[MatchId, Head]:
    return row[0], Head(row[1], row[2].hex())


def found(file: Path, store: str) -> Heads | None:
    """The heads of a store, if the file is there and has kept any of it."""
    if not file.exists():
        return None
    heads = Heads(file)
    if heads.store == store and heads.at:
        return heads
    heads.close()
    return None


def forget(file: Path) -> None:
    """Let another log begin anew, as one that is restored from a backup does."""
    file.unlink(missing_ok=True)


def stored_matches(client: Redis | RedisCluster) -> Iterator[MatchId]:
    """All matches of a log, some of them more than once."""
    suffix = ":events"
    for name in client.scan_iter(match=f"match:*{suffix}", count=1000):
        yield name.decode().removesuffix(suffix).rpartition(":")[2]


def newest_heads(client: Redis | RedisCluster, matches: Sequence[MatchId]) -> Mapping[MatchId, Head]:
    """The heads of those matches that have events.

    Raises:
        LogUnavailable: the server does not answer.
    """
    replies = send(client, *(("XREVRANGE", key(match, "events"), "+", "-", "COUNT", 1) for match in matches))
    return {match: _head(*reply[0]) for match, reply in zip(matches, replies, strict=True) if reply}


def missing(client: Redis | RedisCluster, kept: Iterable[tuple[MatchId, Head]]) -> Iterator[Missing]:
    """The kept heads that a log does not hold.

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
                yield Missing(match, head.version, "the log holds another event there than it held")


def lost_mark(client: Redis | RedisCluster, heads: Heads) -> bool:
    """Whether the log lost some of what it acknowledged before heads were kept last."""
    (reply,) = send(client, ("GET", MARK))
    return int(reply or 0) < heads.mark


def raise_mark(client: Redis | RedisCluster) -> int:
    """The log's next mark, which is on the disk with all that was acknowledged before."""
    mark: int
    (mark,) = send(client, ("INCR", MARK))
    return mark


def batches(items: Iterable[T]) -> Iterator[Sequence[T]]:
    rest = iter(items)
    while some := list(islice(rest, BATCH)):
        yield some


def moment(ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ms // 1000))


def _head(entry: bytes, fields: Sequence[bytes] | dict[bytes, bytes]) -> Head:
    return Head(int(entry.partition(b"-")[0]), digest(pairs(fields).get(b"e", b"")))

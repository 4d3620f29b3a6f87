"""The journal of a run: a file with the contest, and then each deal that was played, so that a run can be continued."""

import fcntl
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Self

import msgspec

from service.arena.deals import UNREADABLE, Contest, Deal


class NotContinued(Exception):
    """The file cannot be continued: it has another contest, is damaged or in use. The message says which."""


class Journal:
    """A context manager. `known` has the deals that the file already had."""

    def __init__(self, path: Path, contest: Contest) -> None:
        """Continue a journal, or begin one. Other runs cannot use it until it is closed.

        Raises:
            NotContinued: the file has another contest, is damaged or no journal, or another run uses it. It is
                unchanged.
        """
        self.known: Mapping[int, Deal]
        self._file: IO[bytes] = path.open("a+b")
        try:
            self._lock(path)
            self.known, kept = _read(path, contest)
            self._file.truncate(kept)
            if not kept:
                self._write(contest)
        except BaseException:
            self._file.close()
            raise

    def _lock(self, path: Path) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotContinued(f"{path} is in use by another run; give another file.") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, deal: Deal) -> None:
        if deal.number not in self.known:
            self._write(deal)

    def _write(self, line: Contest | Deal) -> None:
        self._file.write(msgspec.json.encode(line) + b"\n")
        self._file.flush()


def contest_of(path: Path) -> Contest | None:
    """The contest of a journal; None if there is no file, or an empty one.

    Raises:
        NotContinued: it is no journal.
    """
    if not path.exists() or not path.stat().st_size:
        return None
    with path.open("rb") as file:
        try:
            return msgspec.json.decode(file.readline(), type=Contest)
        except UNREADABLE as error:
            raise NotContinued(f"{path} is not the file of an arena: {error}.") from None


def _read(path: Path, contest: Contest) -> tuple[dict[int, Deal], int]:
    """The deals of a journal, and the length of its complete lines: a run that was killed may have left part of one.

    Raises:
        NotContinued: it is the journal of another contest, or a complete line is no deal of this one.
    """
    found = contest_of(path) or contest
    if difference := contest.difference(found):
        raise NotContinued(f"{path} has another contest, with {difference}; give another file.")
    known: dict[int, Deal] = {}
    length = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            length += len(line)
            if number > 1:
                deal = _deal(line, contest)
                if deal is None or deal.number in known:
                    raise NotContinued(
                        f"{path} is damaged in line {number}; remove this line, and its deal is played again."
                    )
                known[deal.number] = deal
    return known, length


def _deal(line: bytes, contest: Contest) -> Deal | None:
    try:
        deal = msgspec.json.decode(line, type=Deal)
    except UNREADABLE:
        return None
    bots = len(contest.bots)
    sizes = {len(deal.matches), len(deal.times)}
    for match in deal.matches:
        sizes |= {len(match.ranks), len(match.scores)}
        if any(not 0 <= failure.position < bots for failure in match.failures):
            return None
    return deal if sizes == {bots} else None

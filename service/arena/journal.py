"""The journal of a run: a file with the contest, and then each deal as it was played, so that a run can be continued."""

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Self

import msgspec

from service.arena.deals import Contest, Deal


class OtherContest(Exception):
    """The file belongs to another contest; the message names what differs."""


class Journal:
    """A context manager. `known` has the deals that the file already had."""

    def __init__(self, path: Path, contest: Contest) -> None:
        """Continue a journal, or begin one.

        Raises:
            OtherContest: the file has another contest, or is no journal.
        """
        self.known: Mapping[int, Deal] = {}
        kept = 0
        if found := contest_of(path):
            differing = [name for name in Contest.__struct_fields__ if getattr(found, name) != getattr(contest, name)]
            if differing:
                raise OtherContest(
                    f"{path} has another contest, with {differing[0]} {getattr(found, differing[0])}; give another file."
                )
            self.known, kept = _read(path)
        self._file: IO[bytes] = path.open("r+b" if found else "wb")
        self._file.truncate(kept)
        self._file.seek(kept)
        if not found:
            self._write(contest)

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
        OtherContest: it is no journal.
    """
    if not path.exists() or not path.stat().st_size:
        return None
    with path.open("rb") as file:
        try:
            return msgspec.json.decode(file.readline(), type=Contest)
        except msgspec.DecodeError as error:
            raise OtherContest(f"{path} is not the file of an arena: {error}.") from None


def _read(path: Path) -> tuple[dict[int, Deal], int]:
    """The deals of a journal, and the length of its complete lines: a run that was killed may have left part of one."""
    known: dict[int, Deal] = {}
    with path.open("rb") as file:
        length = len(file.readline())
        for line in file:
            try:
                deal = msgspec.json.decode(line, type=Deal)
            except msgspec.DecodeError:
                break
            if not line.endswith(b"\n"):
                break
            known[deal.number] = deal
            length += len(line)
    return known, length

"""The operator's side of erasures: the list that is kept beside backups, and what a restore and a check do with it.

A backup has the accounts as they were. An account that is erased later exists again if the backup is restored, unless
the restore knows of it. So each backup also updates a list of all erased accounts, in a file beside it.
"""

import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from events.record import MatchId
from service.automation.erasure import has_to_leave
from service.match.model import Match
from service.repository.ports import Ports
from service.usecases.erasure import erase_bots

Report = Callable[[str], object]
_LINE: Final = re.compile(r"((?:pl|bt)_[0-9a-f]{20})(?: [0-9TZ:-]{20})?", re.ASCII)


class BadList(Exception):
    """The file is not a list of erased accounts; the text says where it is wrong."""


def lines(ports: Ports) -> Iterable[str]:
    """The erased accounts, one a line with the time, the earliest first; also those whose erasure is not finished."""
    found = {**ports.accounts.erasing(), **ports.accounts.erased()}
    for player, at in sorted(found.items(), key=lambda pair: (pair[1], pair[0])):
        yield f"{player} {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(at / 1000))}"


def read_list(file: Path) -> tuple[str, ...]:
    """The ids in a list that `lines` wrote.

    Raises:
        BadList: a line is not an id, or an id and a time.
        OSError: the file cannot be read.
    """
    return tuple(_read_lines(file))


def _read_lines(file: Path) -> Mapping[str, str]:
    """The lines of a list by the id in each."""
    found = {}
    for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
        parts = _LINE.fullmatch(line)
        if parts is None:
            raise BadList(f"{file}, line {number}, is not the id of an account; `moonstone erased` writes such a list")
        found[parts[1]] = line
    return found


def file_beside(backup: Path, store_id: str) -> Path:
    """The list of the accounts of a store that were erased, beside its backups."""
    return backup.with_name(f"{store_id}.erased")


def update_list(ports: Ports, file: Path) -> bool:
    """Add the erased accounts to a list; returns whether it has any. Without any, no file is created.

    Accounts in the list stay there: a store that was restored may not know of them.

    Raises:
        BadList: the file is not such a list.
        OSError: the file cannot be read or written.
    """
    known = _read_lines(file) if file.exists() else {}
    added = [line for line in lines(ports) if line.partition(" ")[0] not in known]
    if not added:
        return bool(known)
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
            opened.writelines(f"{line}\n" for line in (*known.values(), *added))
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    return True


def erase_again(ports: Ports, listed: Mapping[Path, Sequence[str]], report: Report) -> None:
    """Erase, in a restored store, the accounts of the lists. Workers leave their matches.

    The same for accounts that were erased when the backup was taken: their names and matches may have been read before
    that.
    """
    now = ports.now()
    known = {**ports.accounts.erasing(), **ports.accounts.erased()}
    new = [player for player in dict.fromkeys(chain.from_iterable(listed.values())) if player not in known]
    revived = len(ports.accounts.players(new))
    for player in (*known, *new):
        ports.accounts.begin_erasure(player, now)
        ports.accounts.erase(player, now)
        erase_bots(ports, player, now)
        ports.webhooks.erase(player)
    if not listed:
        report(
            "there is no list of erased accounts beside the backup, and none was given (--erased FILE): those that were erased "
            "after this backup exist again"
        )
    else:
        lists = " and ".join(f"{file} ({len(players)} accounts)" for file, players in listed.items())
        by = f"by the list{'s' if len(listed) > 1 else ''} {lists}"
        report(f"erased {revived} accounts again that were erased after this backup, {by}")


def check_erased(ports: Ports, report: Report) -> bool:
    """Whether nothing is stored of the erased accounts but their ids, the events, and what ends within a day."""
    whole = True
    ports.accounts.adopt()  # removes the keys of tokens that a crash, or an older release, has left
    erased = ports.accounts.erased()
    for player in sorted(erased):
        has_name = bool(ports.accounts.players((player,)))
        has_secret = bool(ports.accounts.tokens(player)) or ports.accounts.recovery_digest(player) is not None
        has_bots = bool(ports.bots.find((player,)) or ports.bots.of(player))
        if has_name or has_secret or has_bots:
            whole = False
            report(f"account {player} was erased, but its name, a token, its recovery code or a bot is stored")
        if ports.webhooks.of((player,)) or ports.webhooks.deliveries(player):
            whole = False
            report(f"account {player} was erased, but a webhook or a delivery is stored")
        if ports.seeks.of(player) is not None:
            whole = False
            report(f"account {player} was erased, but its seek still waits")
    waiting = len(ports.accounts.erasing())
    if erased or waiting:
        report(f"checked {len(erased)} erased accounts; {waiting} wait for a worker or a suspended match")
    return whole


class SeatsOfErased:
    """Finds the matches in which erased accounts still take part."""

    def __init__(self, ports: Ports, report: Report) -> None:
        self._erased = ports.accounts.erased().keys() - ports.accounts.erasing().keys()
        self._report = report
        self.found: list[MatchId] = []

    def reported(self, matches: Iterable[Match]) -> Iterator[Match]:
        """The matches. Each in which an erased account takes part is reported."""
        for match in matches:
            for player in sorted(self._erased & (match.players | {match.creator})):
                if has_to_leave(match, player):
                    self.found.append(match.id)
                    self._report(f"account {player} was erased, but still takes part in match {match.id}")
            yield match

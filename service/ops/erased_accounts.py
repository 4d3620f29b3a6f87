"""The operator's side of erasures: the list that is kept beside backups, and what a restore and a check do with it.

A backup has the accounts as they were. An account that is erased later lives again if the backup is restored, unless the
restore knows of it.
"""

import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from service.repository.ports import Ports
from service.usecases.erasure import erase_bots

Report = Callable[[str], object]
_LINE: Final = re.compile(r"([A-Za-z0-9_-]{1,64})(?: [0-9TZ:-]{20})?", re.ASCII)


class BadList(Exception):
    """The file is not a list of erased accounts; the text says where it is wrong."""


def lines(ports: Ports) -> Iterable[str]:
    """The erased accounts, one a line with the time, the earliest first; also those whose erasure is not finished."""
    found = {**ports.accounts.erased(), **ports.accounts.erasing()}
    for player, at in sorted(found.items(), key=lambda pair: (pair[1], pair[0])):
        yield f"{player} {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(at / 1000))}"


def read_list(file: Path) -> tuple[str, ...]:
    """The ids in a list that `lines` wrote.

    Raises:
        BadList: a line is not an id, or an id and a time.
        OSError: the file cannot be read.
    """
    found = []
    for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
        parts = _LINE.fullmatch(line)
        if parts is None:
            raise BadList(f"{file}, line {number}, is not the id of an account; `moonstone erased` writes such a list")
        found.append(parts[1])
    return tuple(found)


def erase_again(ports: Ports, listed: Iterable[str] | None, report: Report) -> None:
    """Erase, in a restored store, the accounts of a list. Workers leave their matches.

    Accounts that were erased when the backup was taken are erased again too: their names may have been read before.
    """
    now = ports.now()
    known = {**ports.accounts.erasing(), **ports.accounts.erased()}
    new = [player for player in dict.fromkeys(listed or ()) if player not in known]
    revived = len(ports.accounts.players(new))
    for player in new:
        ports.accounts.begin_erasure(player, now)
    for player in (*known, *new):
        ports.accounts.erase(player, now)
        erase_bots(ports, player, now)
        ports.webhooks.erase(player)
    if listed is None:
        report("no list of erased accounts was given (--erased FILE): those erased after this backup exist again")
    else:
        report(f"erased {revived} accounts again that were erased after this backup")


def check_erased(ports: Ports, report: Report) -> bool:
    """Whether nothing is stored of the erased accounts but their ids."""
    whole = True
    erased = ports.accounts.erased()
    for player in sorted(erased):
        has_name = bool(ports.accounts.players((player,)))
        has_bots = bool(ports.bots.find((player,)) or ports.bots.of(player))
        if has_name or has_bots or ports.accounts.tokens(player) or ports.accounts.recovery_digest(player) is not None:
            whole = False
            report(f"account {player} was erased, but its name, a token, its recovery code or a bot is stored")
        if ports.webhooks.of((player,)) or ports.webhooks.deliveries(player):
            whole = False
            report(f"account {player} was erased, but a webhook or a delivery is stored")
    waiting = len(ports.accounts.erasing())
    if erased or waiting:
        report(f"checked {len(erased)} erased accounts; {waiting} wait for a worker or a suspended match")
    return whole

"""`moonstone dump`: the public matches that are over, as files that anybody can check."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from events.record import digest
from service.adapters import store
from service.audit import dump
from service.audit.dump_files import BadDump
from service.ops.maintenance import CannotOperate, Report, errors_as_sentences, log_of, ports_of
from service.settings import read


class Bar(Protocol):
    """A progress bar."""

    def update(self, n_steps: int) -> None: ...


def write_dump(
    environ: Mapping[str, str], folder: Path, report: Report, bar_of: Callable[[int], AbstractContextManager[Bar]]
) -> bool:
    """Add all public matches that ended since the last run to the dump in a folder.

    `bar_of` makes a progress bar of a length. Returns whether no match was left out.

    Raises:
        CannotOperate: the log cannot be read, or the folder's files are not a whole dump of this store.
    """
    settings = read(environ)
    with errors_as_sentences(), log_of(settings) as client:
        ports = ports_of(client, settings.store_id)
        opened = store.stored(client)
        store_digest = digest((opened.id if opened else "").encode())
        left_out: list[str] = []
        try:
            with bar_of(dump.count(ports, folder)) as bar:
                done = dump.extend(ports, folder, store_digest, left_out.append, lambda: bar.update(1))
        except BadDump as error:
            raise CannotOperate(str(error)) from None
    for text in left_out:
        report(text)
    report(
        f"added {done.matches} matches with {done.events} events to {folder}, left out {done.left_out}; "
        f"head {done.head or 'none'}"
    )
    return not done.left_out

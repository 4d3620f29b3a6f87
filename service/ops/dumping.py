"""`moonstone dump`: the public matches that are over, as files that anybody can check."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from events.record import digest
from service.adapters import store
from service.audit.dump import Progress, extend
from service.audit.dump_files import BadDump
from service.audit.dump_source import Source
from service.ops.connection import CannotOperate, errors_as_sentences, log_of, ports_of
from service.ops.maintenance import Report
from service.settings import read

_LOWEST: Final = 19


def lower_priority() -> None:
    """Let this process use processors and disks only when no other process wants them, where the system can do this."""
    os.setpriority(os.PRIO_PROCESS, 0, _LOWEST)
    if hasattr(os, "SCHED_IDLE"):  # Linux; such a process is also the last to use a disk
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def write_dump(environ: Mapping[str, str], folder: Path, report: Report, progress: Progress) -> bool:
    """Add all public matches that are over, and not yet in it, to the dump in a folder.

    Returns whether no match was left out.

    Raises:
        CannotOperate: the log cannot be read, the folder cannot be written to, or its files are not a whole dump of this
            store.
    """
    settings = read(environ)
    with errors_as_sentences(), log_of(settings) as client:
        ports = ports_of(client, settings.store_id)
        opened = store.stored(client)
        store_digest = digest((opened.id if opened else "").encode())
        left_out: list[str] = []
        try:
            done = extend(Source(ports), folder, store_digest, left_out.append, progress)
        except BadDump as error:
            raise CannotOperate(str(error)) from None
        except OSError as error:
            name = error.filename or folder
            text = f"cannot read or write {name}: {error.strerror or error}; the next run continues the dump"
            raise CannotOperate(text) from error
    for text in left_out:
        report(text)
    report(
        f"added {done.matches} matches with {done.events} events to {folder}, left out {done.left_out}; "
        f"head {done.head or 'none'}"
    )
    return not done.left_out

"""The operator's commands on a store: back it up, restore it, check it, and let a suspended match go on.

They work on the server that MOONSTONE_LOG_URL names, or on the data folder's own: while `moonstone serve` runs on it
through its server, else through one that they start for themselves.
"""

import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO, Final

from events.log import LogUnavailable
from events.record import MatchId
from service.adapters import backup as backups
from service.adapters import heads, store
from service.adapters.clock import wall_clock
from service.adapters.server_folder import ValkeyFailed
from service.adapters.valkey import Valkey
from service.audit.stored_match import inspect
from service.audit.verify import Fault
from service.automation import deadlines
from service.container import SERVER_FAULTS, LogClient, connect_log, ports_on
from service.errors import Corrupt, Refused
from service.match.model import Match
from service.match.owed import owed
from service.ops.serve import CannotServe, FolderTaken, lock
from service.ops.supervisor import URL
from service.repository.ports import Ports
from service.settings import BadSetting, Settings, read
from service.usecases.match_index import index_anew, shelve_ended

LOG: Final = "log"
"""The embedded log's folder in the data folder."""

Tell = Callable[[str], object]


class CannotOperate(Exception):
    """The command cannot do its work here; the text says why and what to do."""


def backup(environ: Mapping[str, str], target: Path, tell: Tell) -> None:
    """Write a backup to a new file, or into a folder under a name of its own, while the service runs or not.

    Raises:
        CannotOperate: the file exists, or the log cannot be read.
    """
    settings = read(environ)
    with _told(), log_of(settings) as client:
        if target.is_dir():
            target /= f"moonstone-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.backup"
        if target.exists():
            raise CannotOperate(f"{target} exists; a backup never replaces a file")
        ports_of(client, settings.store_id)
        with _draft_of(target) as file:
            frames = backups.written(file, backups.take(client, wall_clock()))
            matches = sum(isinstance(frame, backups.StoredMatch) for frame in frames)
        tell(f"backed up {matches} matches to {target}")


@contextmanager
def _draft_of(target: Path) -> Iterator[IO[bytes]]:
    """A file that only its owner can read, and that is there whole or not at all; nothing else of its name is replaced.

    Raises:
        CannotOperate: the name was taken meanwhile.
    """
    draft = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, target)
        except FileExistsError:
            raise CannotOperate(f"{target} exists; a backup never replaces a file") from None
    finally:
        draft.unlink(missing_ok=True)


def restore(environ: Mapping[str, str], source: Path, tell: Tell) -> bool:
    """Fill an empty data folder, or the empty server that MOONSTONE_LOG_URL names, and check what is there then.

    What is due and the index are made anew. Whether no match has a fault.

    Raises:
        CannotOperate: the store is not empty, or the file is no whole backup.
    """
    settings = read(environ)
    with _told(), ExitStack() as stack:
        if not source.is_file():
            raise CannotOperate(f"{source} is no file that can be read twice; write it to one first")
        for _ in backups.read(source):
            pass  # whole, before anything is begun that another try would find in its way
        if settings.log_url is None:
            folder = settings.data_dir
            if folder.exists() and any(folder.iterdir()):
                raise CannotOperate(f"{folder} is not empty; restore into a new folder (MOONSTONE_DATA_DIR)")
            stack.enter_context(lock(folder))
            server = stack.enter_context(Valkey.start(folder / LOG, durable=True))
            client = stack.enter_context(connect_log(server.url))
        else:
            client = stack.enter_context(connect_log(settings.log_url))
        if client.dbsize():
            raise CannotOperate("the log's server is not empty; restore into an empty one")
        heads.forget(settings.data_dir / heads.FILE)  # of what the server held before
        count = sum(1 for _ in backups.put(client, backups.read(source)))
        ports = ports_of(client, settings.store_id)
        tell(f"restored {count} matches from {source}")
        shelve_ended(ports, _taken_up(ports, map(backups.match_id, backups.match_keys(client))))
        return _check(ports, client, tell)


def _taken_up(ports: Ports, match_ids: Iterable[MatchId]) -> Iterator[Match]:
    """Matches for each of which is written what follows from it: what it is owed, and its places in the index."""
    for match_id in match_ids:
        try:
            match, _ = ports.history.newest(match_id)
        except (Refused, Corrupt):  # the check will tell
            continue
        ports.log.rearm(match.id, match.head.version, owed(match))
        index_anew(ports, match)
        yield match


def check(environ: Mapping[str, str], tell: Tell) -> bool:
    """Fold every match of the store, its chain checked, and audit those that are over; whether all are without a fault.

    Those that are over are put into the lists where they are missing: an older release did not list all of them. Then the
    heads that were kept outside the log are compared.

    Raises:
        CannotOperate: the log cannot be read.
    """
    settings = read(environ)
    with _told(), log_of(settings) as client:
        ports = ports_of(client, settings.store_id)
        whole = _check(ports, client, tell)
        return _compare(client, settings.data_dir / heads.FILE, tell) and whole


def _compare(client: LogClient, file: Path, tell: Tell) -> bool:
    """Whether the log holds all that it held when its heads were kept, as far as any were."""
    opened = store.stored(client)
    kept = heads.found(file, opened.id) if opened else None
    if kept is None:
        tell(f"no heads were kept in {file.parent}: what the log lost as a whole is not noticed")
        return True
    with closing(kept):
        rows = kept.newest()
        faults = [f"match {one.match}, version {one.version}: {one.fault}" for one in heads.missing(client, rows)]
        if heads.lost_mark(client, kept):
            faults.append(f"the log lost what it acknowledged last before {heads.moment(kept.at)}")
        for fault in faults:
            tell(fault)
        tell(
            f"compared {len(rows)} heads that were kept outside the log, last at {heads.moment(kept.at)}: {len(faults)} faults"
        )
    return not faults


def _check(ports: Ports, client: LogClient, tell: Tell) -> bool:
    """Whether every match could be checked and none has a fault."""
    counts = Counter[str]()
    shelve_ended(ports, _inspected(ports, client, counts, tell))
    statuses = ", ".join(f"{counts[name]} {name}" for name in ("open", "running", "suspended", "finished", "aborted"))
    newer = f", {counts['newer']} of a newer release" if counts["newer"] else ""
    tell(
        f"checked {counts['matches']} matches ({statuses}{newer}) with {counts['events']} events, "
        f"{counts['audited']} audited: {counts['faults']} faults"
    )
    return not (counts["faults"] or counts["newer"])


def _inspected(ports: Ports, client: LogClient, counts: Counter[str], tell: Tell) -> Iterator[Match]:
    """All matches without a fault that this release can read; each is counted, and each fault told."""
    for key in backups.match_keys(client):
        match_id = backups.match_id(key)
        counts["matches"] += 1
        try:
            match = inspect(ports, match_id)
        except Fault as fault:
            counts["faults"] += 1
            tell(f"match {match_id}, version {fault.version}: {fault.text}")
        except Refused as refusal:
            counts["newer"] += 1
            tell(f"match {match_id}, {refusal.code}: {refusal.detail}")
        else:
            counts["events"] += match.head.version
            counts[match.status] += 1
            counts["audited"] += match.server_seed is not None
            yield match


def resume(environ: Mapping[str, str], match_id: str, tell: Tell) -> None:
    """Let a suspended match go on.

    Raises:
        CannotOperate: there is no such match, or it is not suspended.
    """
    settings = read(environ)
    with _told(), log_of(settings) as client:
        ports = ports_of(client, settings.store_id)
        if not ports.log.read(match_id).events:
            raise CannotOperate(f"there is no match {match_id} in this store")
        match = deadlines.resume(ports, match_id)
        tell(f"match {match.id} goes on from version {match.head.version}")


def ports_of(client: LogClient, store_id: str | None = None) -> Ports:
    """The use cases on a log, without workers.

    Raises:
        CannotOperate: there is no store, or another one than the one wanted.
    """
    found = store.stored(client)
    if found is None:
        raise CannotOperate("the log's server holds no store")
    if store_id not in {None, found.id}:
        raise CannotOperate(f"the log's server holds the store {found.id}, not {store_id}")
    return ports_on(client, found)


@contextmanager
def log_of(settings: Settings) -> Iterator[LogClient]:
    """A client of the log that the settings name, if need be on a server of its own.

    Raises:
        CannotOperate: there is no log.
    """
    with ExitStack() as stack:
        url = settings.log_url
        if url is None:
            folder = settings.data_dir / LOG
            if not folder.exists():
                raise CannotOperate(f"there is no log in {settings.data_dir}; set MOONSTONE_DATA_DIR")
            try:
                stack.enter_context(lock(settings.data_dir))
                url = stack.enter_context(Valkey.start(folder, durable=True)).url
            except FolderTaken:
                url = _url_in(folder / URL)
        yield stack.enter_context(connect_log(url))


def _url_in(file: Path) -> str:
    """Where the server listens that another process runs on its folder."""
    try:
        url = read({"MOONSTONE_LOG_URL": file.read_text("utf-8")}).log_url
    except (BadSetting, UnicodeDecodeError):
        url = None
    if url is None:
        raise CannotOperate(f"{file} does not say where the log listens; stop `moonstone serve` and try again")
    return url


@contextmanager
def _told() -> Iterator[None]:
    """Faults of the servers and of the file, as a sentence."""
    try:
        yield
    except LogUnavailable as error:
        raise CannotOperate(f"the log is not available: {error.reason}") from error
    except SERVER_FAULTS as error:
        raise CannotOperate(f"the log does not answer as it should: {type(error).__name__}") from error
    except Refused as error:
        raise CannotOperate(error.detail) from error
    except (backups.BadBackup, heads.BadHeads, ValkeyFailed, CannotServe, OSError) as error:
        raise CannotOperate(str(error)) from error

"""The operator's commands for a store: back it up, restore it, check it, and resume a suspended match.

They work on the server of MOONSTONE_LOG_URL, or on the data folder. If `moonstone serve` runs on the folder, they use
its server; otherwise they start one.
"""

import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO

from events.record import MatchId
from service.adapters import backup as backups
from service.adapters import heads, store
from service.adapters.clock import wall_clock
from service.adapters.valkey import Valkey
from service.audit.stored_match import inspect
from service.audit.verify import Fault
from service.automation import deadlines, rating
from service.automation.adoption import adopt_match
from service.container import LogClient, connect_log
from service.errors import Corrupt, Refused
from service.match.model import Match
from service.ops import erased_accounts
from service.ops.bot_upkeep import check_bots
from service.ops.connection import LOG, CannotOperate, errors_as_sentences, log_of, ports_of
from service.ops.rating_upkeep import check_ratings, rebuild_ratings
from service.ops.serve import lock
from service.ops.webhook_upkeep import check_webhooks
from service.repository.ports import Ports
from service.settings import read
from service.usecases.match_index import rebuild_entries, record_leavers, update_index, update_index_of_ended

Report = Callable[[str], object]


def backup(environ: Mapping[str, str], target: Path, report: Report) -> None:
    """Write a backup to a new file, or to a file with a generated name in a folder. The service may be running.

    Also updates the list of erased accounts beside it.

    Raises:
        CannotOperate: the file exists, or the log cannot be read.
    """
    settings = read(environ)
    with errors_as_sentences(), log_of(settings) as client:
        if target.is_dir():
            target /= f"moonstone-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.backup"
        if target.exists():
            raise CannotOperate(f"{target} exists; a backup never replaces a file")
        ports = ports_of(client, settings.store_id)
        with _draft_of(target) as file:
            frames = backups.write_file(file, backups.read_store(client, wall_clock()))
            matches = sum(isinstance(frame, backups.StoredMatch) and frame.is_match for frame in frames)
        report(f"backed up {matches} matches to {target}")
        listed = erased_accounts.file_beside(target, _store_id(target))
        if erased_accounts.update_list(ports, listed):
            report(f"listed the erased accounts in {listed}; keep it beside all backups of this store")


def _store_id(backup: Path) -> str:
    """The id of the store that is in a backup; it becomes part of a file's name.

    Raises:
        BadBackup: there is none.
    """
    first = next(backups.read_file(backup))
    if not isinstance(first, backups.Begin) or not first.store.isalnum():
        raise backups.BadBackup(f"{backup} does not name its store")
    return first.store


@contextmanager
def _draft_of(target: Path) -> Iterator[IO[bytes]]:
    """A file that only its owner can read. It appears at `target` only when it is complete, and replaces no other file.

    Raises:
        CannotOperate: a file with this name was created meanwhile.
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


def restore(environ: Mapping[str, str], source: Path, report: Report, erased: Path | None = None) -> bool:
    """Fill an empty data folder, or the empty server of MOONSTONE_LOG_URL, from a backup, and check the result.

    Due times and the index are derived again. The accounts of the list `erased`, and of the list beside the backup, are
    erased again. Returns whether there is no fault.

    Raises:
        CannotOperate: the store is not empty, or the file is not a complete backup.
    """
    settings = read(environ)
    with errors_as_sentences(), ExitStack() as stack:
        if not source.is_file():
            raise CannotOperate(f"{source} is not a regular file; it is read twice, so write it to one first")
        for _ in backups.read_file(source):
            pass  # check that it is complete before anything is written, so that another try finds an empty store
        beside = erased_accounts.file_beside(source, _store_id(source))
        lists = [file for file in (erased, beside) if file is not None and (file is erased or file.exists())]
        listed = {file: erased_accounts.read_list(file) for file in lists}
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
        heads.delete(settings.data_dir / heads.FILE)  # they belong to the previous content
        count = sum(1 for _ in backups.fill_store(client, backups.read_file(source)))
        ports = ports_of(client, settings.store_id)
        report(f"restored {count} matches from {source}")
        erased_accounts.erase_again(ports, listed, report)
        update_index_of_ended(ports, _with_derived_data(ports, map(backups.match_id, backups.match_keys(client))))
        whole = _check(ports, client, report)
        rebuilt = rebuild_ratings(ports, report, brief=True)
        return whole and rebuilt


def _with_derived_data(ports: Ports, match_ids: Iterable[MatchId]) -> Iterator[Match]:
    """Write the due times and index entries of each match, and yield the match."""
    for match_id in match_ids:
        try:
            match, _ = ports.history.newest(match_id)
        except (Refused, Corrupt):  # the check that follows reports it
            continue
        rebuild_entries(ports, match)
        if match.status == "open":
            adopt_match(ports, match)
        else:
            ports.log.rearm(match.id, match.head.version, rating.due_now(ports, match))
        yield match


def check(environ: Mapping[str, str], report: Report) -> bool:
    """Verify the chain of every match, fold it, and audit the finished ones; check the ratings. Returns whether there
    is no fault.

    Matches that are over or open and missing in the lists of the index are added, because an older release did not list
    all of them. Then the heads that were saved outside the log are compared.

    Raises:
        CannotOperate: the log cannot be read.
    """
    settings = read(environ)
    with errors_as_sentences(), log_of(settings) as client:
        ports = ports_of(client, settings.store_id)
        whole = _check(ports, client, report)
        whole = check_ratings(ports, report, brief=True) and whole
        return _compare(client, settings.data_dir / heads.FILE, report) and whole


def _compare(client: LogClient, file: Path, report: Report) -> bool:
    """Whether the log still holds all heads that were saved outside it; True if there are none."""
    opened = store.stored(client)
    kept = heads.found(file, opened.id) if opened else None
    if kept is None:
        report(f"no heads were saved in {file.parent}: if the log lost its newest events, this check cannot find it")
        return True
    with closing(kept):
        rows = kept.newest()
        faults = [f"match {one.match}, version {one.version}: {one.fault}" for one in heads.missing(client, rows)]
        if heads.lost_mark(client, kept):
            faults.append(f"the log lost data that it acknowledged before {heads.utc(kept.at)}")
        for fault in faults:
            report(fault)
        report(
            f"compared {len(rows)} heads that were saved outside the log, last at {heads.utc(kept.at)}: {len(faults)} faults"
        )
    return not faults


def _check(ports: Ports, client: LogClient, report: Report) -> bool:
    """Whether every match could be checked, none has a fault, and nothing is left of erased accounts."""
    counts = Counter[str]()
    seats = erased_accounts.SeatsOfErased(ports, report)
    is_whole = erased_accounts.check_erased(ports, report)
    is_whole = check_webhooks(ports, report) and is_whole
    is_whole = check_bots(ports, report) and is_whole
    update_index_of_ended(ports, _listed(ports, seats.reported(_inspected(ports, client, counts, report))))
    statuses = ", ".join(f"{counts[name]} {name}" for name in ("open", "running", "suspended", "finished", "aborted"))
    newer = f", {counts['newer']} of a newer release" if counts["newer"] else ""
    report(
        f"checked {counts['matches']} matches ({statuses}{newer}) with {counts['events']} events, "
        f"{counts['audited']} audited: {counts['faults']} faults"
    )
    return is_whole and not (seats.found or counts["faults"] or counts["newer"])


def _listed(ports: Ports, matches: Iterable[Match]) -> Iterator[Match]:
    """The matches. Those that are open are added to their lists, and all to the lists of those who left them."""
    for match in matches:
        record_leavers(ports, match)
        if match.status == "open":
            update_index(ports, match)
            adopt_match(ports, match)
            newest, _ = ports.history.newest(match.id)
            if (
                newest.status != "open"
            ):  # it started meanwhile, and the lines above may have undone a change of its lists
                update_index(ports, newest)
        yield match


def _inspected(ports: Ports, client: LogClient, counts: Counter[str], report: Report) -> Iterator[Match]:
    """Check all matches, count them, report each fault, and yield the readable matches without a fault."""
    for key in backups.match_keys(client):
        match_id = backups.match_id(key)
        counts["matches"] += 1
        try:
            match = inspect(ports, match_id)
        except Fault as fault:
            counts["faults"] += 1
            report(f"match {match_id}, version {fault.version}: {fault.text}")
        except Refused as refusal:
            counts["newer"] += 1
            report(f"match {match_id}, {refusal.code}: {refusal.detail}")
        else:
            counts["events"] += match.head.version
            counts[match.status] += 1
            counts["audited"] += match.server_seed is not None
            yield match


def list_erased(environ: Mapping[str, str], report: Report) -> None:
    """Report the ids of the erased accounts, one a line with the time, to be kept beside the backups.

    Raises:
        CannotOperate: the log cannot be read.
    """
    settings = read(environ)
    with errors_as_sentences(), log_of(settings) as client:
        for line in erased_accounts.lines(ports_of(client, settings.store_id)):
            report(line)


def resume(environ: Mapping[str, str], match_id: str, report: Report) -> None:
    """Resume a suspended match.

    Raises:
        CannotOperate: there is no such match, or it is not suspended.
    """
    settings = read(environ)
    with errors_as_sentences(), log_of(settings) as client:
        ports = ports_of(client, settings.store_id)
        if not ports.log.read(match_id).events:
            raise CannotOperate(f"there is no match {match_id} in this store")
        match = deadlines.resume(ports, match_id)
        report(f"match {match.id} is resumed at version {match.head.version}")

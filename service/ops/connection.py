"""The log of an operator's command: the server of MOONSTONE_LOG_URL, or that of the data folder."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from events.log import LogUnavailable
from service.adapters import backup as backups
from service.adapters import heads, store
from service.adapters.server_folder import ServerFailed
from service.adapters.valkey import Valkey
from service.container import SERVER_FAULTS, LogClient, connect_log, ports_on
from service.errors import Refused
from service.ops import erased_accounts
from service.ops.serve import CannotServe, FolderTaken, lock
from service.ops.supervisor import URL
from service.repository.ports import Ports
from service.settings import BadSetting, Settings, read

LOG: Final = "log"
"""The name of the embedded log's folder in the data folder."""


class CannotOperate(Exception):
    """The command cannot be carried out; the text says why and what to do."""


def ports_of(client: LogClient, store_id: str | None = None) -> Ports:
    """The use cases on a log, without workers.

    Raises:
        CannotOperate: there is no store, or its id is not `store_id`.
    """
    found = store.stored(client)
    if found is None:
        raise CannotOperate("the log's server holds no store")
    if store_id not in {None, found.id}:
        raise CannotOperate(f"the log's server holds the store {found.id}, not {store_id}")
    return ports_on(client, found)


@contextmanager
def log_of(settings: Settings) -> Iterator[LogClient]:
    """A client for the log that the settings name; starts a server on the data folder if none runs there.

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
                url = _read_url(folder / URL)
        yield stack.enter_context(connect_log(url))


def _read_url(file: Path) -> str:
    """The URL of the server that another process runs on the folder."""
    try:
        url = read({"MOONSTONE_LOG_URL": file.read_text("utf-8")}).log_url
    except (BadSetting, UnicodeDecodeError):
        url = None
    if url is None:
        raise CannotOperate(f"{file} does not say where the log listens; stop `moonstone serve` and try again")
    return url


@contextmanager
def errors_as_sentences() -> Iterator[None]:
    """Raise errors of the servers and of files as `CannotOperate`."""
    try:
        yield
    except LogUnavailable as error:
        raise CannotOperate(f"the log is not available: {error.reason}") from error
    except SERVER_FAULTS as error:
        raise CannotOperate(f"the log does not answer as it should: {type(error).__name__}") from error
    except Refused as error:
        raise CannotOperate(error.detail) from error
    except (backups.BadBackup, erased_accounts.BadList, heads.BadHeads, ServerFailed, CannotServe, OSError) as error:
        raise CannotOperate(str(error)) from error

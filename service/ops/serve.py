"""`moonstone serve`: the whole service on one machine; and `moonstone workers`: only the workers."""

import fcntl
import http.client
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOL_SOCKET, socket
from threading import Event
from typing import Final

from prometheus_client import start_http_server

from events.log import LogUnavailable
from service import container
from service.adapters import heads, store
from service.adapters.head_keeper import HeadKeeper
from service.adapters.log_file import RESTORE
from service.adapters.server_folder import PRIVATE, ServerFailed, error_text, keep_writers_out
from service.observability import metrics, metrics_folder
from service.ops.supervisor import WORKER_STOP_TIMEOUT_S, Module, Server, Supervisor
from service.settings import BadSetting, Settings, read

POLL_INTERVAL_S: Final = 0.1


class CannotServe(Exception):
    """The service cannot start here; the text says why and what to do."""


class FolderTaken(CannotServe):
    """Another process uses the data folder."""


def serve(environ: Mapping[str, str], report: Callable[[str], object]) -> None:
    """Run the whole service until SIGINT or SIGTERM; `report` is called with its address once it is ready.

    Raises:
        CannotServe: the folder or the port is in use, or the servers cannot be started or used.
    """
    settings = read(environ)
    with _stop_signal() as stopped, ExitStack() as stack:
        stack.enter_context(lock(settings.data_dir))
        child_environ = {**environ, metrics_folder.FOLDER: stack.enter_context(metrics_folder.new_folder())}
        port = _free_port(settings.host, settings.port)
        supervisor = Supervisor()
        stack.callback(supervisor.stop)
        child_environ |= {"MOONSTONE_PORT": str(port)}
        for name, url, durable in (("log", settings.log_url, True), ("queue", settings.queue_url, False)):
            if url is None:
                server = Server(name, settings.data_dir / name, durable=durable)
                _start_server(supervisor, server)
                child_environ[f"MOONSTONE_{name.upper()}_URL"] = server.url
        settings = read(child_environ)
        _check(settings)
        supervisor.start(_head_keeper(settings))
        supervisor.start(Module("api", "api", child_environ))
        _keep_running(supervisor, stopped, settings, child_environ, report)


def run_workers(environ: Mapping[str, str]) -> None:
    """Run only the worker processes until SIGINT or SIGTERM.

    Raises:
        CannotServe: the servers cannot be used.
    """
    settings = read(environ)
    _check(settings)
    with _stop_signal() as stopped, ExitStack() as stack:
        folder = stack.enter_context(metrics_folder.new_folder())
        if settings.metrics_port:
            _serve_metrics(stack, settings.host, settings.metrics_port, folder)
        supervisor = Supervisor()
        stack.callback(supervisor.stop)
        _start_workers(supervisor, settings, {**environ, metrics_folder.FOLDER: folder})
        while not stopped.wait(POLL_INTERVAL_S):
            supervisor.restart_ended()


def _serve_metrics(stack: ExitStack, host: str, port: int, folder: str) -> None:
    try:
        server, _ = start_http_server(port, host, metrics.of_folder(folder))
    except OSError as error:
        raise CannotServe(f"cannot listen on {host}:{port} ({error.strerror}); set MOONSTONE_METRICS_PORT") from error
    stack.callback(server.shutdown)


def _start_server(supervisor: Supervisor, server: Server) -> None:
    try:
        supervisor.start(server)
    except ServerFailed as error:
        raise CannotServe(str(error)) from error
    except OSError as error:
        raise _no_folder(server.folder, error) from error


def _start_workers(supervisor: Supervisor, settings: Settings, environ: Mapping[str, str]) -> None:
    for number in range(settings.workers):
        supervisor.start(Module(f"worker {number + 1}", "workers", environ, WORKER_STOP_TIMEOUT_S, "people"))
    for number in range(settings.bot_workers):
        supervisor.start(Module(f"bot worker {number + 1}", "workers", environ, WORKER_STOP_TIMEOUT_S, "bots"))
    supervisor.start(Module("calls", "workers.calls", environ, WORKER_STOP_TIMEOUT_S))


def _check(settings: Settings) -> None:
    """Find faults once here, before every child process fails on them."""
    try:
        container.build(settings, listen=False).close()
    except (BadSetting, container.Unusable) as error:
        raise CannotServe(str(error)) from error


def _head_keeper(settings: Settings) -> HeadKeeper:
    """The thread that saves the log's heads; first checks that the log still holds the saved ones.

    Raises:
        CannotServe: the log has lost some of them.
    """
    file = settings.data_dir / heads.FILE
    with ExitStack() as stack:
        try:
            client = stack.enter_context(container.connect_log(settings.log_url or ""))
            kept = heads.Heads(file)
            stack.callback(kept.close)
            opened = store.stored(client)
            if opened is not None and kept.store != opened.id:
                kept.reset(opened.id)
            lost = list(heads.missing(client, kept.newest(heads.RECENT)))
            if lost or heads.lost_mark(client, kept):
                raise CannotServe(
                    f"the log has lost data that it had at {heads.utc(kept.at)}{_first_of(lost)}. {RESTORE}; or, "
                    f"to continue with what is left, remove {file}"
                )
        except heads.BadHeads as error:
            raise CannotServe(str(error)) from error
        except LogUnavailable as error:
            raise CannotServe(f"the log is not available: {error.reason}") from error
        stack.pop_all()
    return HeadKeeper(client, kept)


def _first_of(lost: Sequence[heads.Missing]) -> str:
    if not lost:
        return ""
    more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
    return f" (version {lost[0].version} of match {lost[0].match}{more})"


def _keep_running(
    supervisor: Supervisor,
    stopped: Event,
    settings: Settings,
    environ: Mapping[str, str],
    report: Callable[[str], object],
) -> None:
    """Restart children that end, until a signal. The workers start once the API is ready.

    Their first beat ends an outage, so until then no player's clock loses time.
    """
    ready = False
    while not stopped.wait(POLL_INTERVAL_S):
        supervisor.restart_ended()
        if not ready and _is_ready(settings):
            ready = True
            _start_workers(supervisor, settings, environ)
            report(f"Moonstone is ready at http://{_in_url(_reachable(settings.host))}:{settings.port}")


def _is_ready(settings: Settings) -> bool:
    connection = http.client.HTTPConnection(_reachable(settings.host), settings.port, timeout=1)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _reachable(host: str) -> str:
    """The address at which this machine itself reaches a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  (compared, not bound)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _free_port(host: str, port: int) -> int:
    """The port itself, or a free one for 0. Checks that it can be used, before anything is started."""
    with socket(AF_INET6 if ":" in host else AF_INET) as probe:
        probe.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CannotServe(
                f"cannot listen on {host}:{port} ({error.strerror}); set MOONSTONE_HOST or MOONSTONE_PORT"
            ) from error
        found: int = probe.getsockname()[1]
        return found


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Lock a data folder, so that only this process uses it.

    Raises:
        FolderTaken: another process uses it.
        CannotServe: it cannot be used as a data folder.
    """
    with ExitStack() as stack:
        try:
            folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            keep_writers_out(folder)
            file = stack.enter_context((folder / "serve.lock").open("a"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderTaken(f"{folder} is in use by another `moonstone serve`; set MOONSTONE_DATA_DIR") from None
        except OSError as error:
            raise _no_folder(folder, error) from error
        yield


def _no_folder(folder: Path, error: OSError) -> CannotServe:
    return CannotServe(f"{folder} cannot be used ({error_text(error)}); set MOONSTONE_DATA_DIR")


@contextmanager
def _stop_signal() -> Iterator[Event]:
    """An event that SIGINT and SIGTERM set, inside the block."""
    stopped = Event()
    before = {number: signal.signal(number, lambda *_: stopped.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

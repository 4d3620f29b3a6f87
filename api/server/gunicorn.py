"""gunicorn with gevent workers, configured in code: limits for requests, and a timeout for clients that do not read.

Nothing here may import redis before a worker has patched the standard library: its sockets would block the worker.
"""

import http
import os
import re
import resource
import socket
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger
from gunicorn.http import errors
from gunicorn.workers.base import Worker
from gunicorn.workers.ggevent import GeventWorker

from api.http import access_log, headers
from api.problems import documents
from api.server import connection
from api.server.factory import Factory
from service.observability import metrics_folder

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

CLIENT_TIMEOUT_MS: Final = 5_000
"""A client must acknowledge sent data within this time, or its connection is closed. This ends streams that nobody reads."""

LIMITS: Final[Mapping[str, Any]] = {
    # More than the maximum number of streams of a process, so that streams do not block other requests.
    "worker_connections": 2400,
    "graceful_timeout": 10,
    "timeout": 30,
    "keepalive": 5,
    # gunicorn's maximum. `/v1/streams` with 100 matches and their versions needs more than 5 KiB.
    "limit_request_line": 8190,
    "limit_request_fields": 40,
    "limit_request_field_size": 4096,
    # No restart after a number of requests, since it would cut streams.
    "max_requests": 0,
    # By default gunicorn lets clients of this machine set the path prefix and the scheme.
    "forwarder_headers": "",
    "secure_scheme_headers": {},
    # By default gunicorn 27 opens a control socket.
    "control_socket_disable": True,
    # By default gunicorn uses another parser if it is installed. Our tests of malformed requests cover this one.
    "http_parser": "python",
}


def _host_in_target(target: str) -> str | None:
    """The host and port of a request target in absolute form, which count instead of the Host header (RFC 9112, 3.2.2)."""
    if target.startswith("/") or "://" not in target:
        return None
    return re.split("[/?#]", target.partition("://")[2], maxsplit=1)[0]


class ProblemWorker(GeventWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's worker, with reads that yield to other requests, and problem documents for unreadable requests."""

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        super().handle(listener, connection.Connection(client), addr)

    def handle_request(self, listener_name: Any, req: Any, sock: connection.Connection, addr: Any) -> None:
        sock.take_turn()
        # A higher minor version gets the highest that is supported here (RFC 9110, 2.5).
        req.version = min(req.version, (1, 1))
        if (host := _host_in_target(req.uri)) is not None:
            req.headers = [*((name, value) for name, value in req.headers if name != "HOST"), ("HOST", host)]
        unwrapped = req.body
        req.body = body = connection.Body(req, sock)
        sock.hold_head()
        try:
            super().handle_request(listener_name, req, sock, addr)
        except StopIteration:
            sock.flush()
            if not body.is_read:
                sock.linger()
            raise
        else:
            sock.flush()
        finally:
            # gunicorn discards the rest of a short body before the next request, and handles only its own errors there.
            req.body = unwrapped

    def handle_error(self, req: Any, client: connection.Connection, addr: Any, exc: BaseException) -> None:
        status = _status_of(exc)
        if status is None:
            super().handle_error(req, client, addr, exc)
            return
        phrase = http.HTTPStatus(status).phrase
        request_id = str(uuid.uuid4())
        problem = documents.blank(status, phrase, request_id)
        body = msgspec.json.encode(problem)
        fields = (
            ("Connection", "close"),
            ("Content-Type", documents.MEDIA_TYPE),
            ("Content-Length", str(len(body))),
            *headers.DEFAULTS,
            ("X-Request-Id", request_id),
            # The Origin of the page could not be read, so any origin is allowed.
            *((("Access-Control-Allow-Origin", "*"),) if self.app.serves_pages else ()),
        )
        head = "".join(f"{name}: {value}\r\n" for name, value in fields)
        self.log.debug("Invalid request: %s", exc)
        access_log.log_unreadable_request(request_id, status, problem.code)
        try:
            client.sendall(f"HTTP/1.1 {status} {phrase}\r\n{head}\r\n".encode() + body)
        except OSError:
            self.log.debug("The client of an invalid request has disconnected")
        client.linger()


def _status_of(error: BaseException) -> int | None:
    """The status for a request that gunicorn could not parse; None if the client is not at fault."""
    match error:
        case errors.ConfigurationProblem() | errors.InvalidResponseHeader() | errors.InvalidResponseHeaderName():
            return None
        case errors.LimitRequestLine():
            return 414
        case errors.LimitRequestHeaders():
            return 431
        case errors.ExpectationFailed():
            return 417
        case errors.ParseException():
            # Also for an unknown transfer coding, where RFC 9112 (6.1) recommends 501: a client's fault never gives a 5xx.
            return 400
    return None


def _set_client_timeout(arbiter: Arbiter) -> None:
    for listener in arbiter.LISTENERS:
        if listener.sock.family in {socket.AF_INET, socket.AF_INET6}:
            listener.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, CLIENT_TIMEOUT_MS)


class PropagatingLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Passes gunicorn's log records to the root logger, like all other records of the process."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


def _assign_slot(arbiter: Arbiter, worker: Worker) -> None:
    """Give a worker the lowest slot number that no living worker has. Its metrics files are named by it."""
    taken = {sibling.slot for sibling in arbiter.WORKERS.values()}
    worker.slot = next(slot for slot in range(1, len(taken) + 2) if slot not in taken)


def _raise_open_files_limit() -> None:
    """Raise the soft limit to the hard limit: the usual 1024 is too low for the connections of a worker."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """The HTTP server. `run()` ends the process when the server stops.

    `on_ready` is called with the host and port; port 0 picks a free one. `serves_pages`: pages of other origins may call
    the API, so they may also read the problem of an unreadable request.
    """

    def __init__(
        self,
        factory: Factory,
        *,
        host: str,
        port: int,
        workers: int,
        on_ready: Callable[[str, int], None],
        serves_pages: bool = False,
    ) -> None:
        self.serves_pages = serves_pages
        self._factory = factory
        self._bind = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._workers = workers
        self._on_ready = on_ready
        self._worker: Worker | None = None
        super().__init__()

    def load_config(self) -> None:
        for name, value in LIMITS.items():
            self.cfg.set(name, value)
        self.cfg.set("bind", self._bind)
        self.cfg.set("workers", self._workers)
        self.cfg.set("worker_class", ProblemWorker)
        self.cfg.set("logger_class", PropagatingLogger)
        self.cfg.set("when_ready", self._when_ready)
        self.cfg.set("pre_fork", _assign_slot)
        self.cfg.set("post_fork", self._post_fork)

    def _when_ready(self, arbiter: Arbiter) -> None:
        _raise_open_files_limit()
        _set_client_timeout(arbiter)
        host, port, *_ = arbiter.LISTENERS[0].sock.getsockname()
        self._on_ready(host, port)

    def _post_fork(self, _: Arbiter, worker: Worker) -> None:
        self._worker = worker
        # Settings do not change in a worker. As plain attributes they need no look-up by gunicorn, which reads many in a request.
        vars(worker.cfg).update({name: setting.get() for name, setting in worker.cfg.settings.items()})
        os.environ[metrics_folder.PROCESS] = f"api-{worker.slot}"

    def load(self) -> "WSGIApplication":
        worker = self._worker
        return self._factory(lambda: worker is None or worker.alive)

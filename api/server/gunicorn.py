"""gunicorn with gevent workers, set up in code: limits on what comes in, an end to clients that never read.

Nothing here may import redis before a worker has patched the standard library: its sockets would block the whole worker.
"""

import http
import os
import resource
import socket
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import gevent
import msgspec
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger
from gunicorn.http import errors
from gunicorn.workers.base import Worker
from gunicorn.workers.ggevent import GeventWorker
from werkzeug.exceptions import RequestTimeout

from api.http import access_log, bodies, headers
from api.problems import documents
from api.server import connection
from api.server.factory import Factory
from service.observability import metrics_folder

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

CLIENT_TIMEOUT: Final = 5_000
"""Milliseconds in which a client has to acknowledge what was sent; a stream that nobody reads ends then."""

LIMITS: Final[Mapping[str, Any]] = {
    # More than a process has streams, which would else keep every other request out.
    "worker_connections": 2400,
    "graceful_timeout": 10,
    "timeout": 30,
    "keepalive": 5,
    "limit_request_line": 2048,
    "limit_request_fields": 40,
    "limit_request_field_size": 4096,
    # A worker that restarts itself would cut its streams.
    "max_requests": 0,
    # gunicorn would else let any client of this machine say under which path and scheme it asks.
    "forwarder_headers": "",
    "secure_scheme_headers": {},
    # gunicorn 27 would else open a socket that controls it.
    "control_socket_disable": True,
}


def body_deadline() -> gevent.Timeout:
    """A context that ends the reading of a slow body (api.http.bodies.Deadline)."""
    return gevent.Timeout(bodies.MAX_WAIT_FOR_BODY_S, RequestTimeout())


class ProblemWorker(GeventWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's worker, with reads that let other requests run, and problem documents for what never reaches the app."""

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        super().handle(listener, connection.Connection(client), addr)

    def handle_request(self, listener_name: Any, req: Any, sock: connection.Connection, addr: Any) -> None:
        sock.take_turn()
        # A later minor version is answered by the highest that is spoken here (RFC 9110, 2.5).
        req.version = min(req.version, (1, 1))
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
            # gunicorn discards the rest of a short body before the next request, and knows its own errors only.
            req.body = unwrapped

    def handle_error(self, req: Any, client: connection.Connection, addr: Any, exc: BaseException) -> None:
        status = _status_of(exc)
        if status is None:
            super().handle_error(req, client, addr, exc)
            return
        phrase = http.HTTPStatus(status).phrase
        request = str(uuid.uuid4())
        problem = documents.blank(status, phrase, request)
        body = msgspec.json.encode(problem)
        said = (
            ("Connection", "close"),
            ("Content-Type", documents.MEDIA_TYPE),
            ("Content-Length", str(len(body))),
            *headers.UNLESS_SAID,
            ("X-Request-Id", request),
            # Whose page asked stands among what could not be read.
            *((("Access-Control-Allow-Origin", "*"),) if self.app.serves_pages else ()),
        )
        head = "".join(f"{name}: {value}\r\n" for name, value in said)
        self.log.debug("Invalid request: %s", exc)
        access_log.tell_of_unread(request, status, problem.code)
        try:
            client.sendall(f"HTTP/1.1 {status} {phrase}\r\n{head}\r\n".encode() + body)
        except OSError:
            self.log.debug("The client of an invalid request has gone")
        client.linger()


def _status_of(error: BaseException) -> int | None:
    """The status for a request that gunicorn could not read, None if the fault is not the client's."""
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
            # Also for a transfer coding that nobody knows, where RFC 9112 (6.1) would rather have 501: nothing that a client
            # sends is answered as a fault of ours.
            return 400
    return None


def _give_up_on_silent_clients(arbiter: Arbiter) -> None:
    for listener in arbiter.LISTENERS:
        if listener.sock.family in {socket.AF_INET, socket.AF_INET6}:
            listener.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, CLIENT_TIMEOUT)


class Lines(Logger):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's records go where this process's others go."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


def _take_place(arbiter: Arbiter, worker: Worker) -> None:
    """The first place that no living worker has."""
    taken = {sibling.place for sibling in arbiter.WORKERS.values()}
    worker.place = next(place for place in range(1, len(taken) + 2) if place not in taken)


def _allow_open_files() -> None:
    """As many as the system grants: a worker has its connections, those to the log, and some more. Many begin with 1024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """The HTTP server; `on_ready` is told its address (port 0 picks a free one), `run()` ends the process when stopped.

    `serves_pages`: pages of other origins may call, and so may read why a request could not be read.
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
        self.cfg.set("logger_class", Lines)
        self.cfg.set("when_ready", self._when_ready)
        self.cfg.set("pre_fork", _take_place)
        self.cfg.set("post_fork", self._post_fork)

    def _when_ready(self, arbiter: Arbiter) -> None:
        _allow_open_files()
        _give_up_on_silent_clients(arbiter)
        host, port, *_ = arbiter.LISTENERS[0].sock.getsockname()
        self._on_ready(host, port)

    def _post_fork(self, _: Arbiter, worker: Worker) -> None:
        self._worker = worker
        os.environ[metrics_folder.PROCESS] = f"api-{worker.place}"

    def load(self) -> "WSGIApplication":
        worker = self._worker
        return self._factory(body_deadline, lambda: worker is None or worker.alive)

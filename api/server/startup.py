"""Startup of an API process whose log is not available yet: it reports what it waits for, and serves later."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from api.app import create_waiting_app
from service.container import Feed, LogUnavailable, Ports, Unusable
from service.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

RETRY_INTERVAL_S: Final = 0.5

_log = logging.getLogger("moonstone.api")


class Waiting:
    """Serves an app that says why the API is not available, and calls `start` until it returns the real app.

    If the worker exited instead, gunicorn would stop all workers because of a short outage of the log.
    """

    def __init__(
        self, start: Callable[[], "WSGIApplication"], reason: Unusable, settings: Settings, alive: Callable[[], bool]
    ) -> None:
        self._start = start
        self._alive = alive
        self._away = _Away(settings)
        self._app: WSGIApplication = create_waiting_app(self._away, alive)
        self._report(reason)
        threading.Thread(target=self._keep_trying, name="waiting", daemon=True).start()

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        return self._app(environ, start_response)

    def _keep_trying(self) -> None:
        while self._alive():
            time.sleep(RETRY_INTERVAL_S)
            try:
                self._app = self._start()
            except Unusable as reason:
                self._report(reason)
            except Exception:  # noqa: BLE001  (this thread is the only one that tries again)
                _log.exception("the API cannot start; trying again")
            else:
                return

    def _report(self, reason: Unusable) -> None:
        if self._away.reason != str(reason):
            self._away.reason = str(reason)
            _log.warning("waiting for the log: %s", reason)


class _Away:
    """The container of a process without a log: it has only its settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.reason = ""

    @property
    def ports(self) -> Ports:
        raise LogUnavailable("unavailable")

    @property
    def feed(self) -> Feed:
        raise LogUnavailable("unavailable")

    def readiness(self) -> tuple[str, ...]:
        return (self.reason,)

    def clock_fault(self) -> str | None:
        return None

    def warnings(self) -> tuple[str, ...]:
        return ()

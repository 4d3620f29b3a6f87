"""A process whose log is not there yet: it lives, says what it waits for, and serves once the log is there."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from api.app import create_waiting_app
from service.container import Unusable
from service.repository.ports import Feed, LogUnavailable, Ports
from service.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PAUSE: Final = 0.5

_log = logging.getLogger("moonstone.api")


class Waiting:
    """The app that `start` makes, tried again and again until it can; before that, one that says why it cannot.

    A worker that ended instead would take its siblings with it, only because the log is away for a moment.
    """

    def __init__(
        self, start: Callable[[], "WSGIApplication"], reason: Unusable, settings: Settings, alive: Callable[[], bool]
    ) -> None:
        self._start = start
        self._alive = alive
        self._away = _Away(settings)
        self._app: WSGIApplication = create_waiting_app(self._away, alive)
        self._tell(reason)
        threading.Thread(target=self._keep_trying, name="waiting", daemon=True).start()

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        return self._app(environ, start_response)

    def _keep_trying(self) -> None:
        while self._alive():
            time.sleep(PAUSE)
            try:
                self._app = self._start()
            except Unusable as reason:
                self._tell(reason)
            except Exception:  # noqa: BLE001  (whatever it was, nobody else would try again)
                _log.exception("the API cannot start; trying again")
            else:
                return

    def _tell(self, reason: Unusable) -> None:
        if self._away.reason != str(reason):
            self._away.reason = str(reason)
            _log.warning("waiting for the log: %s", reason)


class _Away:
    """The container of a process that has nothing but its settings."""

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

    def warnings(self) -> tuple[str, ...]:
        return ()

"""`python -m api`: the HTTP API alone, with the settings of the environment.

What imports redis is imported in the worker, after gevent's patches (api.server), and what counts once it is settled where.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from service import metrics_folder
from service.log_lines import log_to_stderr
from service.settings import BadSetting, Settings, read

if TYPE_CHECKING:
    from flask import Flask

    from api import checks

_TICK: Final = 0.2
_PATIENCE: Final = 20.0
"""Seconds; gunicorn gives up on a worker that does not start in LIMITS["timeout"]."""

_log = logging.getLogger("moonstone.api")


def _factory(settings: Settings) -> "Callable[[checks.Deadline, Callable[[], bool]], Flask]":
    parent = os.getpid()

    def make(body_deadline: "checks.Deadline", alive: Callable[[], bool]) -> "Flask":
        from api.app import create_app  # noqa: PLC0415
        from service.container import Unusable, build  # noqa: PLC0415

        # A worker that ends while it starts would take its siblings with it, only because the log is away for a moment. But
        # one whose parent is gone would only keep the port from those who come after it.
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                service = build(settings)
                break
            except Unusable as error:
                if time.monotonic() > deadline or os.getppid() != parent:
                    raise
                _log.warning("waiting for the log: %s", error)
                time.sleep(1)

        def end_streams() -> None:
            while alive():
                time.sleep(_TICK)
            service.feed.close()

        threading.Thread(target=end_streams, name="end-streams", daemon=True).start()
        return create_app(service, deadline=body_deadline, alive=alive)

    return make


def _tell(host: str, port: int) -> None:
    _log.info("listening on http://%s:%d", f"[{host}]" if ":" in host else host, port)


def main() -> None:
    log_to_stderr()
    try:
        settings = read(os.environ)
    except BadSetting as error:
        _log.critical("no API: %s", error)
        sys.exit(1)
    with metrics_folder.shared():
        from api.server import Server  # noqa: PLC0415

        Server(
            _factory(settings), host=settings.host, port=settings.port, workers=settings.api_workers, on_ready=_tell
        ).run()


if __name__ == "__main__":
    main()

"""`python -m api`: the HTTP API alone, with the settings of the environment.

What imports redis is imported in the worker, after gevent's patches (api.server.gunicorn), and what counts once it is settled where.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from service.observability import metrics_folder
from service.observability.logfmt import log_to_stderr
from service.settings import BadSetting, Settings, read, servers

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from api.requests import checks
    from api.server.gunicorn import Factory

_TICK: Final = 0.2

_log = logging.getLogger("moonstone.api")


def _factory(settings: Settings) -> "Factory":
    def make(body_deadline: "checks.Deadline", alive: Callable[[], bool]) -> "WSGIApplication":
        from api.app import create_app  # noqa: PLC0415
        from api.server.startup import Waiting  # noqa: PLC0415
        from service.container import Unusable, build  # noqa: PLC0415

        def start() -> "WSGIApplication":
            service = build(settings)

            def end_streams() -> None:
                while alive():
                    time.sleep(_TICK)
                service.feed.close()

            threading.Thread(target=end_streams, name="end-streams", daemon=True).start()
            return create_app(service, deadline=body_deadline, alive=alive)

        try:
            return start()
        except Unusable as reason:
            return Waiting(start, reason, settings, alive)

    return make


def _tell(host: str, port: int) -> None:
    _log.info("listening on http://%s:%d", f"[{host}]" if ":" in host else host, port)


def main() -> None:
    log_to_stderr()
    try:
        settings = read(os.environ)
        servers(settings)
    except BadSetting as error:
        _log.critical("no API: %s", error)
        sys.exit(1)
    with metrics_folder.shared():
        from api.server.gunicorn import Server  # noqa: PLC0415

        Server(
            _factory(settings),
            host=settings.host,
            port=settings.port,
            workers=settings.api_workers,
            on_ready=_tell,
            serves_pages=bool(settings.cors_origins),
        ).run()


if __name__ == "__main__":
    main()

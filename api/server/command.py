"""Runs the HTTP API alone, with the settings of the environment."""

import logging
import os
import sys

from service.adapters.uncollected import uncollected

with uncollected():
    from api.server.factory import factory
    from service.observability import metrics_folder
    from service.observability.logfmt import log_to_stderr
    from service.settings import BadSetting, read, servers

_log = logging.getLogger("moonstone.api")


def _announce(host: str, port: int) -> None:
    _log.info("listening on http://%s:%d", f"[{host}]" if ":" in host else host, port)


def main() -> None:
    log_to_stderr()
    try:
        settings = read(os.environ)
        servers(settings)
    except BadSetting as error:
        _log.critical("the API cannot start: %s", error)
        sys.exit(1)
    with metrics_folder.shared_folder():
        with uncollected():
            from api.server.gunicorn import Server  # noqa: PLC0415

        Server(
            factory(settings),
            host=settings.host,
            port=settings.port,
            workers=settings.api_workers,
            on_ready=_announce,
            serves_pages=bool(settings.cors_origins),
        ).run()

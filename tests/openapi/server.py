"""The API for schemathesis, on the servers that the environment names: prints its port.

Streams end soon, because schemathesis reads every answer to its end, and the number of open matches is not limited.
"""

from service.adapters.uncollected import uncollected

with uncollected():
    import os
    import sys
    from collections.abc import Callable

    from flask import Flask

    from api.server.gunicorn import Server


def factory(alive: Callable[[], bool]) -> Flask:
    # These import redis, which must not be imported before gevent's patches.
    with uncollected():
        from api.app import create_app  # noqa: PLC0415
        from api.resources import events  # noqa: PLC0415
        from service import container, settings  # noqa: PLC0415
        from service.subscriptions import streams  # noqa: PLC0415
        from service.usecases import match_lifecycle  # noqa: PLC0415

    streams.MAX_AGE_S = 0.05  # type: ignore[misc]  # a constant
    streams.MAX_STREAMS_PER_HOLDER = 1000  # type: ignore[misc]
    match_lifecycle.OPEN_MATCHES = 1_000_000  # type: ignore[misc]
    events.LONGEST_WAIT_S = 0  # type: ignore[misc]
    return create_app(container.build(settings.read(os.environ)), alive=alive)


class PatientServer(Server):
    """Keeps idle connections open: it could close one just when the client uses it again."""

    def load_config(self) -> None:
        super().load_config()
        self.cfg.set("keepalive", 3600)


def announce(_: str, port: int) -> None:
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    PatientServer(factory, host="127.0.0.1", port=0, workers=1, on_ready=announce).run()

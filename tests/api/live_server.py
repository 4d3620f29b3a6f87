"""Runs the API on the servers that the environment names: prints its port, and counts its open streams."""

from service.adapters.uncollected import uncollected

with uncollected():
    import os
    import sys
    from collections.abc import Callable

    from flask import Flask, Response, current_app

    from api.http.responses import answer
    from api.resources.stream_response import STREAMS
    from api.server.gunicorn import Server


def count() -> Response:
    """A worker's process id and how many streams it has open."""
    streams = current_app.extensions.get(STREAMS)
    return answer({"worker": os.getpid(), "open": streams.open if streams else 0})


def factory(alive: Callable[[], bool]) -> Flask:
    # These import redis, which must not be imported before gevent's patches.
    with uncollected():
        from api.app import create_app  # noqa: PLC0415
        from service import container, settings  # noqa: PLC0415

    app = create_app(container.build(settings.read(os.environ)), alive=alive)
    app.add_url_rule("/open-streams", view_func=count)
    return app


def announce(_: str, port: int) -> None:
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    Server(factory, host="127.0.0.1", port=0, workers=int(sys.argv[1]), on_ready=announce).run()

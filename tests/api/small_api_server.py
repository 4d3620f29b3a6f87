"""Runs the API and the small API of the tests on a real gunicorn: prints its port, and serves until it is stopped."""

from service.adapters.uncollected import uncollected

with uncollected():
    import sys
    import time
    from collections.abc import Callable, Iterator

    from flask import Flask, Response

    from api.app import RESOURCES, create_app
    from api.http import context
    from api.http.responses import answer
    from api.server.gunicorn import Server
    from service.observability.logfmt import log_to_stderr
    from tests.api.conftest import Container, settings, small_api

LARGE = 64 << 20

open_streams: set[object] = set()


def count() -> Response:
    return answer(len(open_streams))


def endless() -> Response:
    alive = context.state().alive

    def lines() -> Iterator[bytes]:
        while alive():
            yield b": beat" + b"." * 4000 + b"\n\n"
            time.sleep(0.01)
        yield b": bye\n\n"

    return Response(counted(lines()), content_type="text/event-stream")


def large() -> Response:
    """One chunk that is larger than all buffers between server and client."""
    return Response(counted(iter([b"x" * LARGE])), headers={"Content-Length": str(LARGE)})


def counted(pieces: Iterator[bytes]) -> Iterator[bytes]:
    stream = object()
    open_streams.add(stream)
    try:
        yield from pieces
    finally:
        open_streams.remove(stream)


def factory(alive: Callable[[], bool]) -> Flask:
    wanted = settings(requests_by_token=10_000, requests_by_address=10_000)
    app = create_app(Container(wanted), resources=(*RESOURCES, small_api()), alive=alive)
    app.add_url_rule("/endless", view_func=endless)
    app.add_url_rule("/large", view_func=large)
    app.add_url_rule("/open-streams", view_func=count)
    return app


def announce(_: str, port: int) -> None:
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    log_to_stderr()
    Server(factory, host="127.0.0.1", port=0, workers=1, on_ready=announce, serves_pages=True).run()

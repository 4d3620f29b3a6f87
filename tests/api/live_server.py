"""Forks processes that run the API on the servers that an environment names, and that count its open streams.

Each line of the input is JSON: the environment and the number of workers of a new process, whose id and port are the answer, or the
id of a process, whose exit code is the answer, or null while it runs. The code of the API is imported once, because that takes
most of the start of a process. This is no fork server of multiprocessing: a test process has only one, that of the workers, which
must not have gevent's patches.
"""

from service.adapters.uncollected import uncollected

with uncollected():
    from gevent import monkey

    # The workers of gunicorn patch the rest, and this process needs the true `fork`.
    monkey.patch_all(os=False, signal=False)

    import json
    import os
    import sys
    from collections.abc import Callable, Mapping
    from signal import SIGTERM
    from typing import NoReturn

    from flask import Flask, Response, current_app

    from api.app import create_app
    from api.http.responses import answer
    from api.resources.stream_response import STREAMS
    from api.server.gunicorn import Server
    from service import container, settings


def count() -> Response:
    """A worker's process id and how many streams it has open."""
    streams = current_app.extensions.get(STREAMS)
    return answer({"worker": os.getpid(), "open": streams.open if streams else 0})


def factory(alive: Callable[[], bool]) -> Flask:
    app = create_app(container.build(settings.read(os.environ)), alive=alive)
    app.add_url_rule("/open-streams", view_func=count)
    return app


def announce(_: str, port: int) -> None:
    print(port, flush=True)


def forked(environ: Mapping[str, str], workers: int) -> tuple[int, int]:
    """The id and the port of a new process; 0 if it has ended before it listens."""
    output, its_output = os.pipe()
    pid = os.fork()
    if not pid:
        os.dup2(its_output, sys.stdout.fileno())
        serve(environ, workers)
    os.close(its_output)
    with os.fdopen(output, encoding="ascii") as lines:
        return pid, int(lines.readline() or 0)


def serve(environ: Mapping[str, str], workers: int) -> NoReturn:
    os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
    os.environ.clear()
    os.environ.update(environ)
    Server(factory, host="127.0.0.1", port=0, workers=workers, on_ready=announce).run()
    sys.exit()


def exit_code(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def main() -> None:
    """Answer until the input ends, and then end the processes that still run: the test process has died."""
    running: set[int] = set()
    for line in sys.stdin:
        request = json.loads(line)
        answer: object
        if isinstance(request, int):
            answer = code = exit_code(request)
            running -= set() if code is None else {request}
        else:
            answer = pid, _ = forked(*request)
            running.add(pid)
        print(json.dumps(answer), flush=True)
    for pid in running:
        os.kill(pid, SIGTERM)


if __name__ == "__main__":
    main()

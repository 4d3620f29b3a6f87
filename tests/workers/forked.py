"""Workers that are forked from a process that has imported all that they need. Each test process has its own such process.

A worker that is started as a program takes five times as much processor time, mostly for its imports.
"""

from service.adapters.uncollected import uncollected

with uncollected():
    import faulthandler
    import os
    import sys
    from collections.abc import Mapping
    from multiprocessing import forkserver, parent_process
    from multiprocessing.connection import wait
    from multiprocessing.context import ForkServerProcess
    from threading import Thread
    from typing import Literal, TypeAlias

    from service.observability import failpoints
    from service.observability.logfmt import log_to_stderr
    from service.settings import read
    from workers import calls, process

Work: TypeAlias = process.Role | Literal["calls"]
"""What a process does: what `python -m workers <role>` does, or what `python -m workers.calls` does."""

forkserver.set_forkserver_preload([__name__])


class Fork(ForkServerProcess):
    """A forked worker, with the methods of `subprocess.Popen` that the tests use."""

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.join(timeout)
        if self.exitcode is None:
            raise TimeoutError(f"process {self.pid} does not end within {timeout} s")
        return self.exitcode

    def send_signal(self, number: int) -> None:
        assert self.pid is not None
        os.kill(self.pid, number)


def forked(work: Work, environ: Mapping[str, str]) -> Fork:
    """A worker with this environment."""
    fork = Fork(target=_run, args=(work, environ))
    fork.start()
    return fork


def _run(work: Work, environ: Mapping[str, str]) -> None:
    Thread(target=_end_with_the_tests, daemon=True).start()
    os.environ.clear()
    os.environ.update(environ)
    if point := environ.get(failpoints.VARIABLE):
        failpoints.arm(point)
    faulthandler.enable()
    log_to_stderr()
    settings = read(os.environ)
    sys.exit(calls.run(settings) if work == "calls" else process.run(settings, work))


def _end_with_the_tests() -> None:
    """End this process if the test process has died."""
    tests = parent_process()
    assert tests is not None
    wait([tests.sentinel])
    os._exit(1)

"""Reads from one API process over HTTP, as clients do them. Such a process caches accounts and ratings."""

import http
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import IO, Final

from events.redis_log import send
from service.container import Service
from tests.benchmarks import processor_time
from tests.benchmarks.http import serving
from tests.benchmarks.load import drive, request
from tests.ports import free_port

REPEATS: Final = 100
REPEATS_AFTER_OTHERS: Final = 15


class ApiProcess:
    """An API process of its own, on the log of a service."""

    def __init__(self, port: int, pids: Sequence[int], log_pid: int) -> None:
        self._port = port
        self._pids = pids
        self._log_pid = log_pid

    def once(self, path: str, token: str | None = None) -> float:
        """Milliseconds until the answer to one request."""
        return self._latencies([_get(path, token)])[0]

    def warm(self, path: str, token: str | None = None) -> tuple[float, str]:
        """Milliseconds until an answer as a median of many, and the processor time that each of them took."""
        requests = [_get(path, token)] * REPEATS
        self._latencies(requests[:5])
        before = processor_time.seconds(self._pids), processor_time.seconds([self._log_pid])
        ms = median(self._latencies(requests))
        api = processor_time.seconds(self._pids) - before[0]
        log = processor_time.seconds([self._log_pid]) - before[1]
        per_answer = 1000 / REPEATS
        return ms, f"processor time {api * per_answer:.2f} ms, log {log * per_answer:.2f} ms"

    def cold(self, path: str, others: Sequence[str], token: str | None = None) -> float:
        """Milliseconds until an answer right after the answers of other paths, as a median."""
        requests = [*(_get(other, token) for other in others), _get(path, token)] * REPEATS_AFTER_OTHERS
        return median(self._latencies(requests)[len(others) :: len(others) + 1])

    def _latencies(self, requests: Sequence[bytes]) -> list[float]:
        answers = drive(self._port, [requests])
        assert answers.statuses == {http.HTTPStatus.OK: len(requests)}, answers.statuses
        return [1000 * latency for latency in answers.latencies]


def _get(path: str, token: str | None) -> bytes:
    return request("GET", path, {} if token is None else {"Authorization": f"Bearer {token}"})


@contextmanager
def api_process(service: Service, environ: Mapping[str, str], log_file: IO[bytes]) -> Iterator[ApiProcess]:
    """Run an API process on the servers of a service; it writes its log to `log_file`."""
    port = free_port()
    env = {
        **environ,
        "MOONSTONE_PORT": str(port),
        "MOONSTONE_API_WORKERS": "1",
        "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
        "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
    }
    (info,) = send(service.log_client, ("INFO", "server"))
    with serving(log_file, "api", env=env, port=port) as process:
        yield ApiProcess(port, processor_time.children(process.pid), info["process_id"])

"""Health checks: whether the process is alive, and whether it can serve."""

import pytest

from api.app import create_app
from tests.api.checked import Client
from tests.api.conftest import Container, problem


class Faulty(Container):
    def readiness(self) -> tuple[str, ...]:
        return ("the log is not available: loading", "appendfsync is everysec, not always")


class WithoutQueue(Container):
    def warnings(self) -> tuple[str, ...]:
        return ("the queue does not answer",)


def test_a_healthy_process_is_alive_and_ready() -> None:
    client = Client()
    assert client.ask("/healthz") == {"status": "alive"}
    assert client.ask("/readyz") == {"status": "ready", "warnings": []}


def test_a_process_without_its_queue_is_ready_with_a_warning() -> None:
    assert Client(WithoutQueue()).ask("/readyz") == {"status": "ready", "warnings": ["the queue does not answer"]}


def test_a_process_that_cannot_serve_is_alive_but_not_ready() -> None:
    client = Client(Faulty())
    assert client.ask("/healthz") == {"status": "alive"}
    response = client.get("/readyz")
    refusal = problem(response)
    assert (refusal.status, refusal.code) == (503, "not-ready")
    assert refusal.document["faults"] == list(Faulty().readiness())
    assert "Retry-After" in response.headers


def test_a_process_that_is_being_stopped_is_alive_but_not_ready() -> None:
    client = create_app(Container(), alive=lambda: False).test_client()
    assert client.get("/healthz").status_code == 200
    refusal = problem(client.get("/readyz"))
    assert (refusal.status, refusal.code) == (503, "not-ready")
    assert refusal.document["faults"] == ["the process is being stopped"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_checks_are_never_cached(path: str) -> None:
    assert Client().get(path).headers["Cache-Control"] == "no-store"

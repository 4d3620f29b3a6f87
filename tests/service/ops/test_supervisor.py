"""Stopping children: all are asked to stop before any is waited for, and children that others need end last."""

import time

import pytest

from service.ops import supervisor
from service.ops.supervisor import Module, Supervisor


class RecordedChild:
    """A child that records the calls."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self.name = name
        self._said = calls

    def start(self) -> None:
        self._said.append(f"start {self.name}")

    def has_ended(self) -> bool:
        return False

    def request_stop(self) -> None:
        self._said.append(f"request stop of {self.name}")

    def stop(self) -> None:
        self._said.append(f"stop {self.name}")


def test_all_children_get_the_signal_to_stop_before_the_first_wait() -> None:
    calls: list[str] = []
    parent = Supervisor()
    for name in ("log", "api"):
        parent.start(RecordedChild(name, calls))
    parent.stop()
    assert calls == ["start log", "start api", "request stop of api", "request stop of log", "stop api", "stop log"]


def test_a_module_gets_one_signal_to_stop_and_is_killed_after_its_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    signals = []
    module = Module("sleeper", "http.server", {}, stop_timeout_s=0.01)
    module.start()
    process = module._process
    assert process is not None
    monkeypatch.setattr(process, "terminate", lambda: signals.append("once"))
    module.request_stop()
    module.stop()
    assert (signals, module.has_ended(), process.returncode) == (["once"], True, -9)


def test_hanging_modules_take_the_timeout_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = Supervisor()
    modules = [Module(f"sleeper {number}", "http.server", {}, stop_timeout_s=1.0) for number in range(4)]
    for module in modules:
        parent.start(module)
        monkeypatch.setattr(module._process, "terminate", lambda: None)
    began = time.monotonic()
    parent.stop()
    assert time.monotonic() - began < 3
    assert all(module.has_ended() for module in modules)


def test_stop_timeouts_grow_from_workers_to_the_api_s_requests_to_the_api() -> None:
    from api.server.gunicorn import LIMITS  # noqa: PLC0415

    assert supervisor.WORKER_STOP_TIMEOUT_S < LIMITS["graceful_timeout"] < supervisor.STOP_TIMEOUT_S

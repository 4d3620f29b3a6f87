"""Stopping children: all are asked to stop before any is waited for, and children that others need end last."""

import time

import pytest

from service.ops import supervisor
from service.ops.supervisor import Module, Supervisor


class Told:
    """A child that records the calls."""

    def __init__(self, name: str, said: list[str]) -> None:
        self.name = name
        self._said = said

    def start(self) -> None:
        self._said.append(f"start {self.name}")

    def has_ended(self) -> bool:
        return False

    def request_stop(self) -> None:
        self._said.append(f"bid {self.name}")

    def stop(self) -> None:
        self._said.append(f"stop {self.name}")


def test_all_children_get_the_signal_to_stop_before_the_first_wait() -> None:
    said: list[str] = []
    watching = Supervisor()
    for name in ("log", "api"):
        watching.start(Told(name, said))
    watching.stop()
    assert said == ["start log", "start api", "bid api", "bid log", "stop api", "stop log"]


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


def test_modules_that_hang_cost_the_patience_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    watching = Supervisor()
    modules = [Module(f"sleeper {number}", "http.server", {}, stop_timeout_s=1.0) for number in range(4)]
    for module in modules:
        watching.start(module)
        monkeypatch.setattr(module._process, "terminate", lambda: None)
    began = time.monotonic()
    watching.stop()
    assert time.monotonic() - began < 3
    assert all(module.has_ended() for module in modules)


def test_a_worker_is_waited_for_less_than_an_api_and_that_longer_than_its_own() -> None:
    from api.server.gunicorn import LIMITS  # noqa: PLC0415

    assert supervisor.WORKER_STOP_TIMEOUT_S < LIMITS["graceful_timeout"] < supervisor.STOP_TIMEOUT_S

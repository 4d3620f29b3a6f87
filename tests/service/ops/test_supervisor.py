"""The end of children: all are told before the first is waited for, and what others need ends last."""

import time

import pytest

from service.ops import supervisor
from service.ops.supervisor import Module, Supervisor


class Told:
    """A child that writes down what it is told."""

    def __init__(self, name: str, said: list[str]) -> None:
        self.name = name
        self._said = said

    def start(self) -> None:
        self._said.append(f"start {self.name}")

    def has_ended(self) -> bool:
        return False

    def bid_end(self) -> None:
        self._said.append(f"bid {self.name}")

    def stop(self) -> None:
        self._said.append(f"stop {self.name}")


def test_all_are_told_to_end_before_one_is_waited_for() -> None:
    said: list[str] = []
    watching = Supervisor()
    for name in ("log", "api"):
        watching.start(Told(name, said))
    watching.stop()
    assert said == ["start log", "start api", "bid api", "bid log", "stop api", "stop log"]


def test_a_module_is_told_once_and_ended_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    module = Module("sleeper", "http.server", {}, patience=0.01)
    module.start()
    process = module._process
    assert process is not None
    monkeypatch.setattr(process, "terminate", lambda: told.append("once"))
    module.bid_end()
    module.stop()
    assert (told, module.has_ended(), process.returncode) == (["once"], True, -9)


def test_modules_that_hang_cost_the_patience_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    watching = Supervisor()
    modules = [Module(f"sleeper {number}", "http.server", {}, patience=1.0) for number in range(4)]
    for module in modules:
        watching.start(module)
        monkeypatch.setattr(module._process, "terminate", lambda: None)
    began = time.monotonic()
    watching.stop()
    assert time.monotonic() - began < 3
    assert all(module.has_ended() for module in modules)


def test_a_worker_is_waited_for_less_than_an_api_and_that_longer_than_its_own() -> None:
    from api.server.gunicorn import LIMITS  # noqa: PLC0415

    assert supervisor.WORKER_PATIENCE < LIMITS["graceful_timeout"] < supervisor.STOP_PATIENCE

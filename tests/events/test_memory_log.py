import pytest

from events.log import Log
from events.memory_log import MemoryLog
from tests.events.log_contract import LogContract, build, create


class TestMemoryLog(LogContract):
    @pytest.fixture
    def log(self) -> Log:
        return MemoryLog()


def test_each_append_wakes_and_a_repeated_one_does_not() -> None:
    woken: list[tuple[str, int]] = []
    log = MemoryLog(lambda match, version: woken.append((match, version)))
    append, head = create(log, "m", events=3)
    log.append(append)
    log.append(build("m", head, "c")[0])
    assert woken == [("m", 3), ("m", 4)]

"""A log whose file is incomplete after a power failure, or damaged: an unacknowledged end is cut, other damage is not served."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from redis import Redis

from service.adapters.server_folder import ServerFailed
from service.adapters.valkey import Valkey
from tests.chaos.played import Played
from tests.chaos.test_log_faults import ready
from tests.waiting import until

_TORN: Final = b"*5\r\n$4\r\nXADD\r\n$30\r\nmatch:{p1"
"""The beginning of a command whose rest was not written."""


def test_row_40_an_incomplete_end_after_a_power_failure_is_cut_off_and_other_damage_is_not_served(
    played: Played, caplog: pytest.LogCaptureFixture
) -> None:
    (file,) = (played.log.data_dir / "appendonlydir").glob("*.incr.aof")
    for number, rest in enumerate((_TORN, bytes(3), bytes(64 << 10), _TORN + bytes(4096))):
        played.act(f"k{number}")
        played.log.kill()
        found = file.read_bytes() + rest
        file.write_bytes(found)
        caplog.clear()
        played.log.restart()
        (warning,) = (record.getMessage() for record in caplog.records if record.name == "moonstone.valkey")
        assert f"{file} ended in {len(rest)} bytes that are no complete command" in warning
        assert file.with_name(warning.rpartition(" ")[2]).read_bytes() == found
        played.checked_events()

    turn = (played.turn()[0], {"action": {"type": "none"}})
    played.log.kill()
    whole = file.read_bytes()
    middle = whole.index(b"\r\n*", len(whole) // 2) + 2
    for damaged in (
        whole[:middle] + b"\x00\xff\x00\xff" + whole[middle:],
        whole[:middle] + bytes(512) + whole[middle + 512 :],
        whole + bytes(512) + whole[:40],
    ):
        file.write_bytes(damaged)
        with pytest.raises(
            ServerFailed, match=r"is damaged after byte \d+ of \d+, .* nothing was changed.*`moonstone restore`$"
        ):
            played.log.restart()
        assert file.read_bytes() == damaged
    assert played.refused(turn, "k9") == "store-unavailable"
    assert not ready(played)
    file.write_bytes(whole)
    played.log.restart()
    until(lambda: ready(played), 30, "the log is back")
    played.act("k9")
    played.checked_events()


_BASE: Final = "appendonly.aof.1.base.rdb"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / _BASE).unlink(), f"Unable to obtain the AOF file {_BASE} length"),
        (lambda folder: os.truncate(folder / _BASE, 20), "Short read or OOM loading DB"),
        (lambda folder: changed(folder / _BASE, -1, b"!"), "Wrong RDB checksum"),
        (lambda folder: changed(folder / "appendonly.aof.1.incr.aof", 31, b"X"), "unknown command 'XET'"),
    ],
)
def test_row_40_a_file_that_the_server_cannot_read_is_reported_without_its_content(
    tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    with Valkey.start(tmp_path / "log", durable=True) as log:
        with Redis.from_url(log.url) as client:
            client.set("seed", "hidden")
        log.kill()
        damage(log.data_dir / "appendonlydir")
        with pytest.raises(ServerFailed, match=f"cannot be read .*{message}.*nothing was changed") as failed:
            log.restart()
        assert "hidden" not in str(failed.value)


def changed(file: Path, position: int, byte: bytes) -> None:
    content = bytearray(file.read_bytes())
    content[position : position + 1 or None] = byte
    file.write_bytes(content)

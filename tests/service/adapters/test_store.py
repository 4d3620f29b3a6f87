"""The store's identity: an emptied or wrong store is never served."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from redis import Redis

from events.log import LogUnavailable
from events.redis_log import connect, send
from service.adapters import store
from service.adapters.store import WrongStore, open_store
from service.adapters.valkey import Valkey


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Valkey]:
    with Valkey.start(tmp_path / "log", durable=True) as running:
        yield running


@pytest.fixture
def client(server: Valkey) -> Iterator[Redis]:
    with connect(server.url) as connected:
        yield connected


def test_the_first_start_creates_a_store_with_a_secret_and_pins_it_in_the_data_folder(
    client: Redis, tmp_path: Path
) -> None:
    opened = open_store(client, tmp_path / "data")
    assert (tmp_path / "data" / "store-id").read_text() == f"{opened.id}\n"
    assert len(opened.secret) == 32
    assert repr(opened) == f"Store({opened.id})"
    assert open_store(client, tmp_path / "data") == opened


def test_several_processes_that_start_at_once_create_one_store(client: Redis, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        opened = set(pool.map(lambda _: open_store(client, tmp_path / "data"), range(8)))
    assert len(opened) == 1


def test_a_folder_without_an_id_is_pinned_to_the_first_store_that_it_opens(client: Redis, tmp_path: Path) -> None:
    opened = open_store(client, tmp_path / "one")
    assert open_store(client, tmp_path / "other") == opened
    assert (tmp_path / "other" / "store-id").exists()


def test_an_emptied_store_is_refused_and_left_empty(client: Redis, tmp_path: Path) -> None:
    opened = open_store(client, tmp_path / "data")
    client.flushall()
    with pytest.raises(WrongStore, match=rf"empty.*{opened.id}.*remove the file .*store-id"):
        open_store(client, tmp_path / "data")
    with pytest.raises(WrongStore, match=r"empty.*unset MOONSTONE_STORE_ID"):
        open_store(client, tmp_path / "new", opened.id)
    assert client.dbsize() == 0


def test_a_store_other_than_the_pinned_one_is_refused(client: Redis, tmp_path: Path) -> None:
    opened = open_store(client, tmp_path / "data")
    (tmp_path / "data" / "store-id").write_text("other\n")
    with pytest.raises(WrongStore, match=f"holds the store {opened.id}, but this service belongs to other"):
        open_store(client, tmp_path / "data")
    assert open_store(client, tmp_path / "data", opened.id) == opened


def test_a_folder_that_cannot_hold_the_id_is_reported(client: Redis, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WrongStore, match=r"store-id must hold the store's id, but cannot be used \(Not a directory\)"):
        open_store(client, tmp_path / "file" / "data")


def test_a_server_with_other_keys_is_refused(client: Redis, tmp_path: Path) -> None:
    client.set("somebody", "else's")
    with pytest.raises(WrongStore, match="1 keys"):
        open_store(client, tmp_path / "data")


def test_a_server_that_restarts_without_data_gets_no_command(server: Valkey, client: Redis, tmp_path: Path) -> None:
    opened = open_store(client, tmp_path / "data")
    store.check_on_connect(client, opened)
    send(client, ("SET", "k", "v"))
    assert store.fault(client, opened) is None
    server.kill()
    shutil.rmtree(server.data_dir / "appendonlydir")
    server.restart()
    with pytest.raises(LogUnavailable):
        send(client, ("SET", "k", "v"))
    with connect(server.url) as other:
        assert other.dbsize() == 0
        assert store.fault(other, opened) == "the log's server holds another store, or none"


def test_a_server_that_restarts_with_its_data_is_used_again(server: Valkey, client: Redis, tmp_path: Path) -> None:
    opened = open_store(client, tmp_path / "data")
    store.check_on_connect(client, opened)
    send(client, ("SET", "k", "v"))
    server.restart()
    assert send(client, ("GET", "k")) == [b"v"]

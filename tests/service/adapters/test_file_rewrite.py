"""The log's server rewrites its file after an erasure, so that no name stays in it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import Final

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from events.redis_log import connect, connect_cluster
from service.adapters.accounts import RedisAccounts
from service.adapters.file_rewrite import RECENT, FileRewrite
from service.adapters.valkey import Valkey
from service.repository.accounts import Player
from tests.waiting import until

NAME: Final = "Rumpelstilzchen"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def client(folder: Path) -> Iterator[Redis]:
    with Valkey.start(folder, durable=True) as server, connect(server.url) as opened:
        yield opened


def files_with(folder: Path, text: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and re.search(text.encode(), path.read_bytes())]


def test_an_erased_name_is_soon_in_no_file(client: Redis, folder: Path) -> None:
    accounts, player, token = RedisAccounts(client), f"pl_{token_hex(10)}", token_hex(32)
    accounts.add(Player(player, NAME, 5), token)
    accounts.set_recovery(player, "code of the player")
    accounts.rewrite_files()
    accounts.erase(player, 7)
    assert files_with(folder, NAME)
    accounts.rewrite_files()
    for erased in (NAME, token, "code of the player"):
        until(lambda erased=erased: not files_with(folder, erased), 20, f"{erased} is in no file")  # type: ignore[misc]
    assert files_with(folder, player)


def test_a_rewrite_begins_once_and_the_next_one_a_day_later(client: Redis) -> None:
    files = FileRewrite(client)
    assert not files.step()
    files.request()
    assert files.step()
    assert not files.step()
    until(lambda: not client.info("persistence")["aof_rewrite_in_progress"], 20, "the rewrite ends")
    files.request()
    assert not files.step()
    assert 86_000 < client.ttl(RECENT) <= 86_400
    client.delete(RECENT)
    assert files.step()


def test_all_servers_of_a_cluster_rewrite_their_files(clusters: Callable[[int], str]) -> None:
    with connect_cluster(clusters(3)) as client:
        client.flushall()
        files = FileRewrite(client)
        files.request()
        assert files.step()
        assert not files.step()


@pytest.mark.parametrize(
    ("answer", "is_tried_soon"),
    [("Background append only file rewriting already in progress", True), ("unknown command 'BGREWRITEAOF'", False)],
)
def test_a_refused_rewrite_is_tried_again(
    client: Redis, monkeypatch: pytest.MonkeyPatch, answer: str, is_tried_soon: bool
) -> None:
    def refuse() -> None:
        raise ResponseError(answer)

    files = FileRewrite(client)
    files.request()
    with monkeypatch.context() as patched:
        patched.setattr(client, "bgrewriteaof", refuse)
        assert not files.step()
    assert files.step() == is_tried_soon
    client.delete(RECENT)
    assert files.step() != is_tried_soon

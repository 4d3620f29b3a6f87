"""The operator's commands on real servers: what a backup restores, what a check finds, and what each command refuses."""

import gzip
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, cast

import pytest

from events.chain import Draft
from events.record import canonical
from events.redis_log import send
from service.adapters import backup as backups
from service.adapters.beat import Beat
from service.automation.bot_turns import suspend
from service.container import connect_log
from service.match.due_times import HINT_MS
from service.match.events import SeedRevealed
from service.match.model import Match
from service.match.new_match import NewMatch
from service.ops import maintenance
from service.ops.connection import CannotOperate
from service.usecases import accounts
from service.usecases.match_lifecycle import create, join
from service.usecases.match_lists import own_page
from tests.service.ops.stores import GAME, Store, backed_up, open_store, reseal


def test_a_backup_restores_everything_on_a_server_and_on_a_cluster(
    store: Store, restore_targets: tuple[dict[str, str], ...], tmp_path: Path, stack: ExitStack
) -> None:
    player, token = accounts.sign_up(store.ports, "Ann")
    over, running = store.bots(over=True), store.bots()
    private = create(store.ports, player.id, NewMatch(game=GAME, seats=2, private=True), "mine").match
    Beat(store.client).beat()
    file = backed_up(store, tmp_path)
    assert store.messages == [f"backed up 3 matches to {file}"]
    assert file.stat().st_mode & 0o777 == 0o600
    ((snapshot,),) = send(store.client, ("ZRANGE", f"{store.key(over)}:snapshot", -1, -1))
    assert snapshot not in gzip.decompress(file.read_bytes())

    for environ in restore_targets:
        messages: list[str] = []
        assert maintenance.restore(environ, file, messages.append)
        assert messages[-1] == (
            "checked 3 matches (1 open, 1 running, 0 suspended, 1 finished, 0 aborted) with "
            f"{over.head.version + running.head.version + private.head.version} events, 1 audited: 0 faults"
        )
        restored_store = open_store(environ, stack)
        assert accounts.authenticate(restored_store.ports, token).player == player
        assert [restored_store.newest(match).head for match in (over, running, private)] == [
            over.head,
            running.head,
            private.head,
        ]
        # The same command gives the same match, so command ids and the store's secret are restored too.
        wanted = NewMatch(game=GAME, seats=2, private=True)
        assert create(restored_store.ports, player.id, wanted, "mine").replayed
        assert [due.match for due in restored_store.ports.log.claim("bots", running.at + HINT_MS, 1000, 10)] == [
            running.id
        ]
        assert [entry.match_id for _, entry in restored_store.ports.index.ended(0, 5)] == [over.id]
        for status_list, match in (("finished", over), ("running", running)):
            assert [entry.match_id for entry in restored_store.ports.index.page(status_list, None, 5)] == [match.id]  # type: ignore[arg-type]
        assert [entry.match_id for entry in restored_store.ports.index.open_entries(player.id)] == [private.id]
        assert private.id in {match.id for match in own_page(restored_store.ports, player.id, "active", None, 50)[0]}
        assert restored_store.client.hgetall("beat") == store.client.hgetall("beat")


def delete_an_event(store: Store, match: Match) -> None:
    store.client.xdel(f"{store.key(match)}:events", "2-0")


@pytest.mark.parametrize(
    ("damage", "messages"),
    [
        (delete_an_event, "version 2: says that it is version 3"),
        (lambda store, match: store.client.delete(f"{store.key(match)}:events"), "version 0: its events are missing"),
        (
            lambda store, match: reseal(
                store, match, Draft("seed_revealed", "worker", canonical(SeedRevealed("0" * 64)))
            ),
            "the revealed seed does not fit the commitment",
        ),
    ],
)
def test_a_check_names_the_match_and_the_version_of_every_fault(
    store: Store, damage: Callable[[Store, Match], None], messages: str
) -> None:
    match, other = store.bots(over=True), store.bots(over=True)
    assert store.check()
    damage(store, match)
    assert not store.check()
    fault, counts, compared = store.messages
    assert fault.startswith(f"match {match.id}, version ")
    assert fault.endswith(messages)
    assert counts.startswith("checked 2 matches")
    assert counts.endswith(f"with {other.head.version} events, 1 audited: 1 faults")
    assert compared.startswith("no heads were saved in ")


def test_a_check_lists_the_ends_that_an_older_release_did_not_list(store: Store) -> None:
    first, second = store.bots(over=True), store.bots(over=True)
    known = store.client.zrange("index:ended", 0, -1, withscores=True)
    store.client.delete("index:ended", "index:finished")
    assert store.check()
    assert [entry.match_id for _, entry in store.ports.index.ended(0, 5)] == [first.id, second.id]
    assert store.client.zrange("index:ended", 0, -1, withscores=True) == known
    assert len(store.ports.index.page("finished", None, 5)) == 2


def test_a_suspended_match_goes_on_once_it_is_resumed(store: Store) -> None:
    match = store.bots()
    suspend(store.ports, match, "KeyError")
    maintenance.resume(store.environ, match.id, store.messages.append)
    assert store.messages == [f"match {match.id} is resumed at version {match.head.version + 2}"]
    assert store.newest(match).status == "running"
    with pytest.raises(CannotOperate, match="not suspended"):
        maintenance.resume(store.environ, match.id, store.messages.append)
    with pytest.raises(CannotOperate, match="no match nosuch in this store"):
        maintenance.resume(store.environ, "nosuch", store.messages.append)


def test_an_incomplete_backup_file_is_refused_and_restores_nothing(
    store: Store, empty: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    store.bots()
    file = backed_up(store, tmp_path)
    content = gzip.decompress(file.read_bytes())
    broken = tmp_path / "broken"
    other = empty("other")
    for damaged, messages in (
        (b"moonstone", "cannot be read"),
        (file.read_bytes()[:-30], "cannot be read"),
        (gzip.compress(content[:100]), "cannot be read"),
        (gzip.compress(content[:-20]), "cut|cannot be read"),
        (gzip.compress(b"\0\0\0\1\0"), "cannot be read"),
        (gzip.compress(b""), "cut"),
        (flipped(file.read_bytes()), "cannot be read"),
    ):
        broken.write_bytes(damaged)
        with pytest.raises(CannotOperate, match=messages):
            maintenance.restore(other, broken, store.messages.append)
        with connect_log(other["MOONSTONE_LOG_URL"]) as client:
            assert client.dbsize() == 0
        folder = {"MOONSTONE_DATA_DIR": str(tmp_path / "restored")}
        with pytest.raises(CannotOperate, match=messages):
            maintenance.restore(folder, broken, store.messages.append)
        assert not (tmp_path / "restored").exists()


def flipped(content: bytes) -> bytes:
    """The same bytes, changed in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes(byte ^ 0xFF for byte in content[middle : middle + 8]) + content[middle + 8 :]


def test_nothing_is_overwritten(store: Store, tmp_path: Path) -> None:
    store.bots()
    file = backed_up(store, tmp_path)
    with pytest.raises(CannotOperate, match="never replaces a file"):
        maintenance.backup(store.environ, file, store.messages.append)
    with pytest.raises(CannotOperate, match="server is not empty"):
        maintenance.restore(store.environ, file, store.messages.append)
    used = tmp_path / "used"
    used.mkdir()
    (used / "store-id").write_text("0123456789abcdef\n")
    with pytest.raises(CannotOperate, match="is not empty; restore into a new folder"):
        maintenance.restore({"MOONSTONE_DATA_DIR": str(used)}, file, store.messages.append)
    maintenance.backup(store.environ, used, store.messages.append)
    assert len(list(used.glob("moonstone-*.backup"))) == 1


def test_a_backup_does_not_replace_a_file_that_another_backup_wrote_meanwhile(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.bots()
    written = backups.write_file

    def after_another_backup(file: IO[bytes], frames: Iterable[backups.Frame]) -> Iterator[backups.Frame]:
        monkeypatch.setattr(backups, "write_file", written)
        backed_up(store, tmp_path)
        return written(file, frames)

    monkeypatch.setattr(backups, "write_file", after_another_backup)
    with pytest.raises(CannotOperate, match="never replaces a file"):
        backed_up(store, tmp_path)
    (backup_file,) = tmp_path.glob("*backup*")
    assert isinstance(list(backups.read_file(backup_file))[-1], backups.End)


def test_a_restored_backup_has_the_same_faults_as_the_store(
    store: Store, empty: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    match = store.bots()
    stream = f"{store.key(match)}:events"
    entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", store.client.xrange(stream))
    newest = entries[-1][1]
    newest[b"e"] = newest[b"e"].replace(b'"by":"', b'"by":"x')
    adds = [("XADD", stream, entry_id, "e", fields[b"e"], "h", fields[b"h"]) for entry_id, fields in entries]
    send(store.client, ("DEL", stream), *adds)
    assert not store.check()
    found = store.messages[:-1]
    restored = empty("restored")
    store.messages.clear()
    assert not maintenance.restore(restored, backed_up(store, tmp_path), store.messages.append)
    assert set(found) <= set(store.messages)


def test_a_key_that_a_backup_cannot_contain_is_reported(store: Store, tmp_path: Path) -> None:
    match = store.bots()
    for key in ("surprise", f"{store.key(match)}:surprise"):
        store.client.lpush(key, "1")
        with pytest.raises(CannotOperate, match="surprise"):
            backed_up(store, tmp_path)
        store.client.delete(key)
    assert backed_up(store, tmp_path).exists()


def test_the_wrong_store_and_no_store_are_reported(
    store: Store, empty: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    pinned = {**store.environ, "MOONSTONE_STORE_ID": "0123456789abcdef"}
    with pytest.raises(CannotOperate, match="not 0123456789abcdef"):
        maintenance.check(pinned, store.messages.append)
    with pytest.raises(CannotOperate, match="holds no store"):
        maintenance.check(empty("other"), store.messages.append)
    with pytest.raises(CannotOperate, match="there is no log in"):
        maintenance.check({"MOONSTONE_DATA_DIR": str(tmp_path / "none")}, store.messages.append)
    unreachable = {**store.environ, "MOONSTONE_LOG_URL": "redis://127.0.0.1:1/0"}
    with pytest.raises(CannotOperate, match="the log is not available: unavailable"):
        maintenance.check(unreachable, store.messages.append)


def test_a_backup_that_has_a_seat_also_has_a_player_who_joined_meanwhile(store: Store) -> None:
    """The test takes the frames one by one: the backup reads players after it has read the match."""
    match = create(store.ports, "pl_a", NewMatch(game=GAME, seats=2, manual_start=True), "open").match
    frames = backups.read_store(store.client, 0)
    assert isinstance(next(frames), backups.Begin)
    player, _ = accounts.sign_up(store.ports, "Late")
    join(store.ports, player.id, match.id, "join")
    rest = list(frames)
    (stored,) = (frame for frame in rest if isinstance(frame, backups.StoredMatch))
    assert player.id.encode() in stored.events[-1]
    assert f"player:{player.id}".encode() in {frame.key for frame in rest if isinstance(frame, backups.Record)}


def test_a_backup_that_fails_leaves_no_file(store: Store, tmp_path: Path) -> None:
    store.client.lpush("surprise", "1")
    with pytest.raises(CannotOperate):
        backed_up(store, tmp_path)
    assert list(tmp_path.glob("backup*")) == []

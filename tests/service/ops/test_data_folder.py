"""An unusable data folder, or unusable content in it, is reported in one sentence without a traceback."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from service.adapters.server_folder import ServerFailed
from service.adapters.valkey import Valkey
from service.ops import maintenance
from service.ops.connection import CannotOperate
from service.ops.serve import CannotServe, FolderTaken, lock, serve


def environ(folder: Path) -> Mapping[str, str]:
    return {"MOONSTONE_DATA_DIR": str(folder), "MOONSTONE_PORT": "0"}


def write_file(path: Path, content: bytes = b"") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def make_folder(path: Path) -> None:
    path.mkdir(parents=True)


def make_symlink_loop(path: Path) -> None:
    make_folder(path.parent)
    path.symlink_to(path)


def write_invalid_utf_8(path: Path) -> None:
    write_file(path, b"\xff\xfe")


def write_umlaut(path: Path) -> None:
    write_file(path, "é".encode())


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("data", write_file, "data cannot be used .*data: File exists.*MOONSTONE_DATA_DIR"),
        ("", write_file, "data cannot be used .*data: Not a directory.*MOONSTONE_DATA_DIR"),
        ("data/serve.lock", make_folder, "data cannot be used .*serve.lock: Is a directory"),
        ("data/log", write_file, "no server can run in .*log: File exists"),
        ("data/log", make_symlink_loop, "no server can run in .*log: "),
        ("data/log/owner.lock", make_folder, "no server can run in .*owner.lock: Is a directory"),
        ("data/log/valkey.log", make_folder, "no server can run in .*valkey.log: Is a directory"),
        ("data/log/url", make_folder, "log cannot be used .*url: Is a directory"),
        ("data/queue", write_file, "no server can run in .*queue: File exists"),
        (
            "data/store-id",
            make_folder,
            "store-id must hold the store's id, but cannot be used .Is a directory.*MOONSTONE_DATA_DIR",
        ),
        ("data/store-id", write_invalid_utf_8, "store-id holds no id of a store.*MOONSTONE_STORE_ID"),
        ("data/heads.db", make_folder, "heads.db holds the log.s saved heads, but cannot be used .*Is a directory"),
        (
            "data/heads.db",
            write_invalid_utf_8,
            "heads.db holds the log.s saved heads, but cannot be used .*not a database",
        ),
        ("data/store-id", write_umlaut, "store-id holds no id of a store.*MOONSTONE_STORE_ID"),
    ],
)
def test_an_unusable_folder_is_reported_in_a_sentence(
    tmp_path: Path, name: str, damage: Callable[[Path], object], message: str
) -> None:
    parent = tmp_path / "parent"
    damage(parent / name)
    with pytest.raises(CannotServe, match=f"^[^\\n]*{message}[^\\n]*$"):
        serve(environ(parent / "data"), lambda _: None)


@pytest.mark.parametrize("name", ["/proc", "/proc/none", "/sys/none"])
def test_a_folder_of_the_system_is_reported_in_a_sentence(name: str) -> None:
    with pytest.raises(CannotServe, match=rf"^{name} cannot be used \(.*\); set MOONSTONE_DATA_DIR$"):
        serve(environ(Path(name)), lambda _: None)


def test_only_a_folder_that_another_process_has_is_said_to_be_in_use(tmp_path: Path) -> None:
    with lock(tmp_path), pytest.raises(FolderTaken), lock(tmp_path):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(CannotServe) as message, lock(tmp_path / "file"):
        pass
    assert not isinstance(message.value, FolderTaken)


def test_a_folder_that_cannot_be_locked_is_not_reported_as_in_use(tmp_path: Path) -> None:
    for name in ("serve.lock", "log"):
        make_folder(tmp_path / name)
    with pytest.raises(CannotOperate, match=r"cannot be used .*serve.lock: Is a directory"):
        maintenance.check(environ(tmp_path), lambda _: None)


@pytest.mark.parametrize("url", [b"\xff", b"", b"redis://h?foo=bar", b"/"])
def test_a_server_with_a_damaged_address_is_not_contacted(tmp_path: Path, url: bytes) -> None:
    write_file(tmp_path / "log" / "url", url)
    with lock(tmp_path), pytest.raises(CannotOperate, match="url does not say where the log listens"):
        maintenance.check(environ(tmp_path), lambda _: None)


def test_a_server_whose_folder_is_missing_fails_and_can_be_started_later(tmp_path: Path) -> None:
    with Valkey.start(tmp_path / "queue", durable=False) as server:
        shutil.move(tmp_path / "queue", tmp_path / "elsewhere")
        with pytest.raises(ServerFailed, match=r"no server can run in .*queue: .*No such file"):
            server.restart()
        shutil.move(tmp_path / "elsewhere", tmp_path / "queue")
        server.restart()

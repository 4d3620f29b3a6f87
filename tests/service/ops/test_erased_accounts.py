"""A restore does not revive erased accounts silently, and a check finds what is left of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from events.redis_log import send
from service.adapters.valkey import Valkey
from service.automation.erasure import SETTLED_MS, Erasures
from service.container import Service, build
from service.errors import Refused
from service.match.new_match import NewMatch
from service.ops import maintenance
from service.ops.cli import main
from service.ops.connection import CannotOperate
from service.repository.accounts import Player, Token
from service.repository.bots import Bot
from service.repository.signing import SigningKey
from service.repository.webhooks import Webhook
from service.settings import read
from service.usecases import accounts, erasure, hosted_bots, recovery, seeking, webhooks
from service.usecases.hosted_bots import BotSettings
from service.usecases.match_lifecycle import create, join
from tests.service.arena import refused

Environ = dict[str, str]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def empty(tmp_path: Path, valkey_queue_url: str, stack: ExitStack) -> Callable[[str], Environ]:
    """A function that starts an empty log, and returns the environment that names it."""

    def start(name: str) -> Environ:
        log = stack.enter_context(Valkey.start(tmp_path / name, durable=True))
        return {
            "MOONSTONE_LOG_URL": log.url,
            "MOONSTONE_QUEUE_URL": valkey_queue_url,
            "MOONSTONE_DATA_DIR": str(tmp_path / f"{name}-data"),
        }

    return start


def opened(environ: Environ, stack: ExitStack) -> Service:
    service = build(read(environ), listen=False)
    stack.callback(service.close)
    return service


def test_an_account_of_a_backup_is_erased_again_by_a_list_and_otherwise_the_restore_says_so(
    empty: Callable[[str], Environ], stack: ExitStack, tmp_path: Path
) -> None:
    environ = empty("log")
    service = opened(environ, stack)
    ports = service.ports
    (ann, token), (ben, _) = (accounts.sign_up(ports, name) for name in ("Ann", "Ben"))
    code = recovery.renew_code(ports, ann)
    webhooks.add(ports, ann.id, "https://moon.example/", ["finished"])
    bot, *_ = hosted_bots.create(ports, ann, BotSettings(name="Deep"))
    match = create(ports, ann.id, NewMatch(game="ape_town", seats=2, bots=("random",)), "create").match
    join(ports, ann.id, match.id, "join")
    backup = tmp_path / "backup"
    maintenance.backup(environ, backup, print)
    erasure.erase(ports, ann.id)
    listed = CliRunner().invoke(main, ["erased"], env=environ, catch_exceptions=False)
    assert listed.output.split()[::2] == [bot.id, ann.id]
    file = tmp_path / "erased"
    file.write_text(listed.output)

    messages: list[str] = []
    revived = empty("revived")
    assert maintenance.restore(revived, backup, messages.append)
    assert any("--erased" in message and "exist again" in message for message in messages)
    assert accounts.authenticate(opened(revived, stack).ports, token).player == ann

    restored = empty("restored")
    result = CliRunner().invoke(main, ["restore", str(backup), "--erased", str(file)], env=restored)
    assert result.exit_code == 0, result.output
    assert "erased 2 accounts again" in result.output
    again = opened(restored, stack).ports
    with pytest.raises(Refused, match="token-invalid"):
        accounts.authenticate(again, token)
    refused("recovery-code-invalid", recovery.recover, again, code)
    assert again.accounts.players([ann.id, ben.id]) == {ben.id: ben}
    assert again.webhooks.of((ann.id,)) == {}
    assert again.bots.find((bot.id,)) == {}
    assert list(again.bots.of(ann.id)) == []
    Erasures(again).step()
    holder = again.history.newest(match.id)[0].seats[1]
    assert holder is not None
    assert holder.resigned


def test_a_backup_of_an_erasure_that_is_not_finished_is_finished_after_the_restore(
    empty: Callable[[str], Environ], stack: ExitStack, tmp_path: Path
) -> None:
    environ = empty("log")
    ports = opened(environ, stack).ports
    ann, _ = accounts.sign_up(ports, "Ann")
    ports.accounts.begin_erasure(ann.id, ports.now() - SETTLED_MS)
    maintenance.backup(environ, tmp_path / "backup", print)
    restored = empty("restored")
    assert maintenance.restore(restored, tmp_path / "backup", print)
    again = opened(restored, stack).ports
    assert again.accounts.players([ann.id]) == {}
    assert Erasures(again).step() == 1
    assert list(again.accounts.erased()) == [ann.id]


def test_a_later_backup_updates_the_list_beside_it_and_a_restore_of_an_older_one_reads_it(
    empty: Callable[[str], Environ], stack: ExitStack, tmp_path: Path
) -> None:
    environ = empty("log")
    ports = opened(environ, stack).ports
    folder = tmp_path / "backups"
    folder.mkdir()
    (ann, _), (ben, _), (cleo, _) = (accounts.sign_up(ports, name) for name in ("Ann", "Ben", "Cleo"))
    maintenance.backup(environ, folder / "first", print)
    assert [file.name for file in folder.iterdir()] == ["first"]
    erasure.erase(ports, ann.id)
    maintenance.backup(environ, folder / "second", print)
    erasure.erase(ports, ben.id)
    messages: list[str] = []
    maintenance.backup(environ, folder / "third", messages.append)
    (file,) = folder.glob("*.erased")
    assert str(file) in messages[-1]
    assert file.stat().st_mode & 0o777 == 0o600
    assert [line.split()[0] for line in file.read_text().splitlines()] == [ann.id, ben.id]

    restored = empty("restored")
    assert maintenance.restore(restored, folder / "first", messages.append)
    assert f"erased 2 accounts again that were erased after this backup, by the list {file} (2 accounts)" in messages
    again = opened(restored, stack).ports
    assert again.accounts.players([ann.id, ben.id, cleo.id]) == {cleo.id: cleo}

    more = tmp_path / "more"
    more.write_text(f"{cleo.id}\n")
    both = empty("both")
    assert maintenance.restore(both, folder / "first", messages.append, more)
    by_both = f"by the lists {more} (1 accounts) and {file} (2 accounts)"
    assert f"erased 3 accounts again that were erased after this backup, {by_both}" in messages

    # The list keeps what the store does not know.
    stale = empty("stale")
    lone = tmp_path / "first"
    lone.write_bytes((folder / "first").read_bytes())
    assert maintenance.restore(stale, lone, print)
    maintenance.backup(stale, folder / "fourth", print)
    assert [line.split()[0] for line in file.read_text().splitlines()] == [ann.id, ben.id]


def test_a_match_that_a_backup_read_before_the_erasure_is_left_after_the_restore(
    empty: Callable[[str], Environ], stack: ExitStack, tmp_path: Path
) -> None:
    environ = empty("log")
    ports = opened(environ, stack).ports
    ann, _ = accounts.sign_up(ports, "Ann")
    match = create(ports, ann.id, NewMatch(game="ape_town", seats=2, bots=("random",)), "create").match
    join(ports, ann.id, match.id, "join")
    ports.accounts.begin_erasure(ann.id, 1)
    ports.accounts.finish_erasure(ann.id, 1)
    maintenance.backup(environ, tmp_path / "backup", print)
    restored = empty("restored")
    assert maintenance.restore(restored, tmp_path / "backup", print)
    again = opened(restored, stack).ports
    assert again.accounts.players([ann.id]) == {}
    Erasures(again).step()
    holder = again.history.newest(match.id)[0].seats[1]
    assert holder is not None
    assert holder.resigned


def test_a_check_finds_what_is_left_of_an_erased_account(empty: Callable[[str], Environ], stack: ExitStack) -> None:
    environ = empty("log")
    service = opened(environ, stack)
    ann, _ = accounts.sign_up(service.ports, "Ann")
    erasure.erase(service.ports, ann.id)
    service.ports.accounts.finish_erasure(ann.id, 1)
    messages: list[str] = []
    assert maintenance.check(environ, messages.append)
    assert "checked 1 erased accounts; 0 wait for a worker or a suspended match" in messages
    client = service.log_client

    def add_name() -> None:
        service.ports.accounts.add(Player(ann.id, "Ann", 1), "digest")
        send(client, ("DEL", "token:digest"), ("HDEL", f"account:{ann.id}", "token:digest"))

    bot = Bot("bt_1", ann.id, 0, ("ape_town",), "", True, "owner", 1, 5_000, SigningKey("bot"))
    webhook = Webhook("wh_1", ann.id, "https://moon.example/", ("finished",), 0, 0, SigningKey("webhook"))

    def add_match() -> str:
        return create(service.ports, ann.id, NewMatch(game="ape_town", seats=2), "create").match.id

    leftovers: list[tuple[Callable[[], object], Callable[[], object], str]] = [
        (add_name, lambda: send(client, ("DEL", f"player:{ann.id}")), "its name"),
        (
            lambda: send(client, ("HSET", f"account:{ann.id}", "token:x", b"{}")),
            lambda: send(client, ("HDEL", f"account:{ann.id}", "token:x")),
            "a token",
        ),
        (
            lambda: send(client, ("HSET", f"account:{ann.id}", "recovery", "x")),
            lambda: send(client, ("HDEL", f"account:{ann.id}", "recovery")),
            "its recovery code",
        ),
        (
            lambda: seeking.seek(service.ports, ann.id, NewMatch("ape_town", 2), "key", 600),
            lambda: [service.ports.seeks.remove(one.seek) for one in service.ports.seeks.waiting()],
            "its seek",
        ),
        (
            lambda: service.ports.bots.add(bot, 1),
            lambda: service.ports.bots.remove(bot.id, ann.id),
            "or a bot",
        ),
        (
            lambda: service.ports.webhooks.add(webhook, 1),
            lambda: service.ports.webhooks.erase(ann.id),
            "a webhook",
        ),
        (add_match, lambda: None, "still takes part in match"),
    ]
    for leave_behind, remove, named in leftovers:
        messages.clear()
        leave_behind()
        assert not maintenance.check(environ, messages.append), named
        assert any(ann.id in message and named in message for message in messages)
        remove()


def test_a_check_removes_the_keys_of_tokens_of_erased_accounts(
    empty: Callable[[str], Environ], stack: ExitStack
) -> None:
    environ = empty("log")
    service = opened(environ, stack)
    ann, _ = accounts.sign_up(service.ports, "Ann")
    erasure.erase(service.ports, ann.id)
    service.ports.accounts.finish_erasure(ann.id, 1)
    send(service.log_client, ("SET", "grant:x", ann.id), ("SET", "token:y", ann.id))
    assert maintenance.check(environ, print)
    assert send(service.log_client, ("EXISTS", "grant:x"), ("EXISTS", "token:y")) == [0, 0]


@pytest.mark.parametrize("line", ["no id!", "Ann", "", "pl_0123456789abcdef012"])
def test_a_file_that_is_no_list_of_ids_is_refused_before_anything_is_written(
    empty: Callable[[str], Environ], stack: ExitStack, tmp_path: Path, line: str
) -> None:
    environ = empty("log")
    ports = opened(environ, stack).ports
    accounts.sign_up(ports, "Ann")
    maintenance.backup(environ, tmp_path / "backup", print)
    (tmp_path / "erased").write_text(f"pl_0123456789abcdef0123 2026-01-01T00:00:00Z\n{line}\n")
    target = empty("restored")
    with pytest.raises(CannotOperate, match="line 2"):
        maintenance.restore(target, tmp_path / "backup", print, tmp_path / "erased")
    assert maintenance.restore(target, tmp_path / "backup", print)


def test_the_uses_of_tokens_are_in_no_backup(empty: Callable[[str], Environ], stack: ExitStack, tmp_path: Path) -> None:
    environ = empty("log")
    ports = opened(environ, stack).ports
    ann, token = accounts.sign_up(ports, "Ann")
    accounts.add_token(ports, ann, label="Screen", scopes=("watch",), seconds=600)
    accounts.authenticate(ports, token)
    maintenance.backup(environ, tmp_path / "backup", print)
    restored = empty("restored")
    assert maintenance.restore(restored, tmp_path / "backup", print)
    listed = opened(restored, stack).ports.accounts.tokens(ann.id)
    assert listed == ports.accounts.tokens(ann.id)
    assert {one.last_used_at for one in listed.values()} == {None}
    assert Token(label="Screen").label in {one.label for one in listed.values()}

"""A restore does not revive erased accounts silently, and a check finds what is left of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

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
from service.settings import read
from service.usecases import accounts, erasure, hosted_bots, recovery, webhooks
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


def test_a_check_finds_what_is_left_of_an_erased_account(empty: Callable[[str], Environ], stack: ExitStack) -> None:
    environ = empty("log")
    service = opened(environ, stack)
    ann, _ = accounts.sign_up(service.ports, "Ann")
    erasure.erase(service.ports, ann.id)
    service.ports.accounts.finish_erasure(ann.id, 1)
    messages: list[str] = []
    assert maintenance.check(environ, messages.append)
    assert "checked 1 erased accounts; 0 wait for a worker or a suspended match" in messages
    service.ports.accounts.add(Player(ann.id, "Ann", 1), "digest")
    assert not maintenance.check(environ, messages.append)
    assert any(ann.id in message and "its name" in message for message in messages)
    bot = Bot("bt_1", ann.id, 0, ("ape_town",), "", True, "owner", 1, 5_000, SigningKey("bot"))
    service.ports.bots.add(bot, 1)
    messages.clear()
    assert not maintenance.check(environ, messages.append)
    assert any(ann.id in message and "or a bot" in message for message in messages)
    webhooks.add(service.ports, ann.id, "https://moon.example/", ["finished"])
    assert not maintenance.check(environ, messages.append)
    assert any(ann.id in message and "a webhook" in message for message in messages)


def test_a_damaged_list_is_refused_before_anything_is_written(
    empty: Callable[[str], Environ], stack: ExitStack, tmp_path: Path
) -> None:
    environ = empty("log")
    ports = opened(environ, stack).ports
    accounts.sign_up(ports, "Ann")
    maintenance.backup(environ, tmp_path / "backup", print)
    (tmp_path / "erased").write_text("pl_0123456789abcdef0123 2026-01-01T00:00:00Z\nno id!\n")
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

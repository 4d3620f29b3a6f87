"""Hosted bots in a backup and after a restore, on a server and on a cluster."""

from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace

from events.redis_log import send
from service.adapters.bots import PUBLIC
from service.match.new_match import NewMatch
from service.ops import maintenance
from service.repository.accounts import digest_of
from service.repository.bot_tasks import TaskRecord
from service.usecases import accounts, hosted_bots
from service.usecases.hosted_bots import BotSettings
from service.usecases.match_lifecycle import create
from service.views.bot_views import public_bots
from tests.service.ops.stores import GAME, Store, backed_up, open_store


def test_bots_and_their_calls_are_restored_and_what_is_remembered_of_tasks_is_not(
    store: Store, restore_targets: tuple[dict[str, str], ...], tmp_path: Path, stack: ExitStack
) -> None:
    ports = store.ports
    owner, _ = accounts.sign_up(ports, "Ada")
    wanted = BotSettings(name="Deep", public=True, url="https://moon.example/", seating="everyone")
    bot, token, secret = hosted_bots.create(ports, owner, wanted)
    match = create(ports, owner.id, NewMatch(game=GAME, seats=2, bots=(bot.id, "random")), "mine").match
    ports.bot_tasks.note(bot.id, TaskRecord("task", match.id, 0, 1, "pulled", 0))
    file = backed_up(store, tmp_path)
    for environ in restore_targets:
        messages: list[str] = []
        assert maintenance.restore(environ, file, messages.append)
        assert "checked 1 hosted bots of 1 players: 0 faults" in messages
        restored = open_store(environ, stack).ports
        assert hosted_bots.own_bots(restored, owner.id) == (bot,)
        known = hosted_bots.own_bot(restored, owner.id, bot.id)
        assert known.key.secret(restored.secret) == secret
        assert list(restored.bots.public("", 9)) == [bot.id]
        assert match.id in restored.bots.admitted(bot.id)
        session = restored.accounts.by_token(digest_of(token))
        assert session is not None
        assert session.player.id == bot.id
        assert restored.bot_tasks.newest(bot.id, 0, 9) == []
        newest, _ = restored.history.newest(match.id)
        is_called = newest.call_at() is not None
        assert [due.match for due in restored.log.scheduled("call")] == ([match.id] if is_called else [])


def test_a_check_finds_damaged_bots_and_corrects_the_public_list(store: Store) -> None:
    ports = store.ports
    owner, _ = accounts.sign_up(ports, "Ada")
    shown, hidden = (
        hosted_bots.create(ports, owner, BotSettings(name="Deep", public=public))[0].id for public in (True, False)
    )
    send(store.client, ("DEL", PUBLIC), ("ZADD", PUBLIC, 0, hidden))
    assert public_bots(ports, "", 9)[0] == ()  # a process was killed after it had hidden the bot
    assert store.check()
    assert list(ports.bots.public("", 9)) == [shown]
    ports.bots.change(shown, lambda one: replace(one, owner="pl_other"))
    assert not store.check()
    assert any(shown in message and "pl_other" in message for message in store.messages)
    send(store.client, ("SET", f"bot:{shown}", b"{damaged"))
    assert not store.check()
    assert f"a hosted bot of the player {owner.id} cannot be read" in store.messages

"""Hosted bots: what owners may do, who may seat a bot, and how many matches it plays."""

from collections.abc import Callable
from typing import Final

import pytest
from msgspec.structs import replace

from service.automation.erasure import Erasures
from service.repository.accounts import Player, digest_of
from service.usecases import erasure, hosted_bots, match_lifecycle
from service.usecases.hosted_bots import MAX_BOTS, BotSettings
from service.usecases.match_index import IN_FLIGHT_MS
from service.usecases.match_lifecycle import OPEN_MATCHES
from service.usecases.rematch import rematch
from tests.service.arena import Arena, refused

ADA: Final = Player("pl_ada", "Ada", 0)
BEN: Final = Player("pl_ben", "Ben", 0)


@pytest.fixture
def arena() -> Arena:
    arena = Arena()
    for player in (ADA, BEN):
        arena.ports.accounts.add(player, player.id)
    return arena


def made(arena: Arena, **settings: object) -> str:
    bot, *_ = hosted_bots.create(arena.ports, ADA, BotSettings(name="Deep", **settings))  # type: ignore[arg-type]
    return bot.id


def seated(arena: Arena, bot: str, by: str = ADA.id, game: str = "toy") -> str:
    table = arena.create(game, 3, by=by)
    match_lifecycle.add_bot(arena.ports, by, table, arena.new_key(), bot=bot)
    return table


def test_a_new_bot_plays_all_games_for_its_owner_alone(arena: Arena) -> None:
    bot, token, _ = hosted_bots.create(arena.ports, ADA, BotSettings(name="Deep"))
    assert (bot.games, bot.public, bot.seating, bot.max_matches) == (("monkeys_on_the_moon", "toy"), False, "owner", 10)
    session = arena.ports.accounts.by_token(digest_of(token))
    assert session is not None
    assert session.player == Player(bot.id, "Deep", arena.time)
    assert session.scopes == {"watch", "play"}
    assert hosted_bots.own_bots(arena.ports, ADA.id) == (bot,)
    assert hosted_bots.own_bots(arena.ports, BEN.id) == ()


def test_a_bot_is_changed_only_by_its_owner_and_only_in_what_is_given(arena: Arena) -> None:
    bot = made(arena, about="slow")
    changed = hosted_bots.change(
        arena.ports, ADA.id, bot, BotSettings(name="Deeper", public=True, games=("toy", "toy"))
    )
    assert (changed.name, changed.about, changed.public, changed.games) == ("Deeper", "slow", True, ("toy",))
    assert hosted_bots.own_bots(arena.ports, ADA.id) == (changed,)
    for act in (
        lambda: hosted_bots.change(arena.ports, BEN.id, bot, BotSettings(about="mine")),
        lambda: hosted_bots.renew_token(arena.ports, BEN.id, bot),
        lambda: hosted_bots.delete(arena.ports, BEN.id, bot),
        lambda: hosted_bots.delete(arena.ports, ADA.id, "bt_none"),
    ):
        refused("bot-not-found", act)
    refused("game-not-found", hosted_bots.change, arena.ports, ADA.id, bot, BotSettings(games=("chess",)))
    assert hosted_bots.own_bots(arena.ports, ADA.id) == (changed,)


def test_a_new_token_replaces_the_old_one_at_once(arena: Arena) -> None:
    bot, old, _ = hosted_bots.create(arena.ports, ADA, BotSettings(name="Deep"))
    for _ in range(3):
        new = hosted_bots.renew_token(arena.ports, ADA.id, bot.id)
        assert arena.ports.accounts.by_token(digest_of(old)) is None
        session = arena.ports.accounts.by_token(digest_of(new))
        assert session is not None
        assert session.scopes == {"watch", "play"}
        old = new


def test_a_player_has_a_limited_number_of_bots(arena: Arena) -> None:
    ids = [made(arena) for _ in range(MAX_BOTS)]
    refused("too-many-bots", made, arena)
    hosted_bots.delete(arena.ports, ADA.id, ids[0])
    made(arena)


def test_a_bot_that_was_made_for_an_erased_owner_does_not_stay(arena: Arena) -> None:
    erasure.erase(arena.ports, ADA.id)
    refused("token-invalid", made, arena)
    assert hosted_bots.own_bots(arena.ports, ADA.id) == ()


@pytest.mark.parametrize("erase", ["the bot", "its owner", "its owner, by a worker"])
def test_an_erased_bot_resigns_and_nothing_of_it_stays(arena: Arena, erase: str) -> None:
    bot, token, _ = hosted_bots.create(arena.ports, ADA, BotSettings(name="Deep", public=True))
    table = seated(arena, bot.id)
    arena.join(table, "cleo", "dora")
    if erase == "the bot":
        hosted_bots.delete(arena.ports, ADA.id, bot.id)
    elif erase == "its owner":
        erasure.erase(arena.ports, ADA.id)
    else:
        arena.ports.accounts.begin_erasure(ADA.id, arena.time)
        Erasures(arena.ports).step()
    assert arena.ports.accounts.by_token(digest_of(token)) is None if erase != "its owner, by a worker" else True
    worker = Erasures(arena.ports)
    worker.step()
    arena.wait(IN_FLIGHT_MS)
    worker.step()
    holder = arena.match(table).seats[0]
    assert holder is not None
    assert (holder.player, holder.kind, holder.resigned) == (bot.id, "hosted", True)
    assert arena.ports.accounts.by_token(digest_of(token)) is None
    assert arena.ports.accounts.players((bot.id,)) == {}
    assert bot.id in arena.ports.accounts.erased()
    assert arena.ports.bots.find((bot.id,)) == {}
    assert list(arena.ports.bots.of(ADA.id)) == []
    assert list(arena.ports.bots.public("", 9)) == []


# --- seats ------------------------------------------------------------------------------------------------------------


def test_a_seat_records_the_account_of_the_bot_and_of_its_owner(arena: Arena) -> None:
    bot = made(arena, limit_ms=3_000)
    table = seated(arena, bot)
    hosted_bots.change(arena.ports, ADA.id, bot, BotSettings(limit_ms=4_000))
    data = arena.data(table)
    assert data == {"kind": "hosted", "limit_ms": 3_000, "owner": ADA.id, "player": bot, "seat": 0}
    again = arena.create(seats=3, by=ADA.id, bots=(bot, "high"))
    assert arena.data(again, 2)["limit_ms"] == 4_000
    assert arena.types(again) == ["match_created", "seat_taken", "seat_taken"]
    for match in (table, again):
        entries = arena.ports.index.matches_of(bot, "active", None, 9)
        assert match in {entry.match_id for entry in entries}


@pytest.mark.parametrize(
    ("settings", "by", "game", "code"),
    [
        ({}, ADA.id, "toy", None),
        ({"public": True}, ADA.id, "toy", None),
        ({}, BEN.id, "toy", "bot-not-found"),
        ({"public": True}, BEN.id, "toy", "bot-not-allowed"),
        ({"seating": "everyone"}, BEN.id, "toy", None),
        ({"seating": "everyone", "games": ("toy",)}, BEN.id, "monkeys_on_the_moon", "bot-not-found"),
    ],
)
def test_the_owner_says_who_may_seat_a_bot_and_in_which_games(
    arena: Arena, settings: dict[str, object], by: str, game: str, code: str | None
) -> None:
    bot = made(arena, **settings)
    if code is None:
        seated(arena, bot, by, game)
        arena.create(game, 3, by=by, bots=(bot,))
        return
    refused(code, seated, arena, bot, by, game)
    refused(code, arena.create, game, 3, by=by, bots=(bot,))
    assert arena.ports.bots.admitted(bot) == {}


def test_a_bot_that_does_not_exist_is_refused_as_one_that_may_not_be_seen(arena: Arena) -> None:
    hidden = refused("bot-not-found", seated, arena, made(arena), BEN.id)
    missing = refused("bot-not-found", seated, arena, "bt_none", BEN.id)
    assert (hidden.detail, hidden.facts) == (missing.detail, missing.facts)


def test_who_may_seat_no_bot_in_a_match_learns_nothing_of_a_bot(arena: Arena) -> None:
    table = arena.create(by=ADA.id)
    for bot in (made(arena), "bt_none"):
        refused("not-the-creator", match_lifecycle.add_bot, arena.ports, BEN.id, table, arena.new_key(), bot=bot)


def test_a_bot_has_one_seat_of_a_match(arena: Arena) -> None:
    bot = made(arena)
    table = seated(arena, bot)
    refused("already-seated", match_lifecycle.add_bot, arena.ports, ADA.id, table, arena.new_key(), bot=bot)
    refused("already-seated", arena.join, table, bot)
    refused("invalid-options", arena.create, seats=3, by=ADA.id, bots=(bot, bot))


def test_a_bot_that_takes_a_seat_itself_is_recorded_as_a_bot(arena: Arena) -> None:
    bot = made(arena)
    table = arena.join(arena.create(seats=3, by=BEN.id), bot, seed="mine")
    event = arena.events(table)[-1]
    assert event.by == f"player:{bot}"
    assert arena.data(table)["kind"] == "hosted"
    assert arena.data(table)["client_seed"] == "mine"
    arena.leave(table, bot)
    assert arena.match(table).seats == (None, None, None)


def test_a_rated_match_has_only_bots_that_take_their_seats_themselves(arena: Arena) -> None:
    bot = made(arena)
    table = arena.create(by=ADA.id, turn_seconds=20, rated=True)
    refused("match-rated", match_lifecycle.add_bot, arena.ports, ADA.id, table, arena.new_key(), bot=bot)
    refused("invalid-options", arena.create, by=ADA.id, turn_seconds=20, rated=True, bots=(bot,))
    arena.join(table, bot)


@pytest.mark.parametrize("end", ["over", "left", "never seated"])
def test_the_owner_says_how_many_matches_a_bot_plays(arena: Arena, end: str) -> None:
    bot = made(arena, max_matches=2)
    first, second = seated(arena, bot), arena.join(arena.create(seats=3, by=BEN.id), bot)
    refused("bot-busy", seated, arena, bot)
    refused("bot-busy", arena.join, arena.create(seats=3, by=BEN.id), bot)
    if end == "never seated":
        arena.leave(second, bot)
    else:
        arena.join(first, "cleo", "dora")
        arena.leave(first, bot)
        if end == "over":
            arena.play_out(first)
    if end != "over":  # which took long enough
        refused("bot-busy", seated, arena, bot)  # it may be about to get its seat
    arena.wait(IN_FLIGHT_MS + 1)
    seated(arena, bot)
    refused("bot-busy", seated, arena, bot)


@pytest.mark.parametrize(
    "later",
    [
        lambda arena, bot: hosted_bots.delete(arena.ports, ADA.id, bot),
        lambda arena, bot: hosted_bots.change(arena.ports, ADA.id, bot, BotSettings(seating="owner")),
        lambda arena, bot: hosted_bots.change(arena.ports, ADA.id, bot, BotSettings(limit_ms=1_000)),
    ],
)
def test_a_repeated_command_gets_the_same_answer_whatever_the_owner_did(
    arena: Arena, later: Callable[[Arena, str], object]
) -> None:
    bot = made(arena, seating="everyone")
    table = arena.create(seats=3, by=BEN.id)
    first = match_lifecycle.add_bot(arena.ports, BEN.id, table, "once", bot=bot)
    made_with = arena.create(seats=3, by=BEN.id, bots=(bot,), key="with")
    later(arena, bot)
    again = match_lifecycle.add_bot(arena.ports, BEN.id, table, "once", bot=bot)
    assert again == replace(first, replayed=True, newest=None)
    assert arena.create(seats=3, by=BEN.id, bots=(bot,), key="with") == made_with


def test_a_freed_seat_leaves_the_list_of_the_bot(arena: Arena) -> None:
    bot = made(arena)
    table = seated(arena, bot)
    match_lifecycle.free_seat(arena.ports, ADA.id, table, arena.new_key(), seat=0)
    assert list(arena.ports.index.matches_of(bot, "all", None, 9)) == []


@pytest.mark.parametrize("seating", ["everyone", "owner"])
def test_hosted_bots_come_along_to_a_rematch_if_its_creator_may_seat_them(arena: Arena, seating: str) -> None:
    bot = made(arena, seating=seating)
    table = arena.join(seated(arena, bot), "cleo", "dora")
    arena.play_out(table)
    again = rematch(arena.ports, "cleo", table)
    holder = again.match.seats[1]
    found = None if holder is None else (holder.player, holder.kind)
    assert found == ((bot, "hosted") if seating == "everyone" else None)


def test_a_repeated_join_is_answered_also_at_the_limit(arena: Arena) -> None:
    bot = made(arena, max_matches=1)
    table = arena.create(seats=3, by=BEN.id)
    first = match_lifecycle.join(arena.ports, bot, table, "once")
    hosted_bots.change(arena.ports, ADA.id, bot, BotSettings(max_matches=1))
    arena.leave(table, bot)
    arena.wait(IN_FLIGHT_MS + 1)
    seated(arena, bot)
    assert match_lifecycle.join(arena.ports, bot, table, "once") == replace(first, replayed=True, newest=None)


def _is_full(arena: Arena, bot: str, _: str) -> None:
    table = arena.join(arena.create(seats=2, by=BEN.id), "cleo", "dora")
    refused("match-not-open", arena.join, table, bot)


def _loses_a_race(arena: Arena, bot: str, _: str) -> None:
    table = arena.create(seats=2, by=BEN.id, manual_start=True)
    arena.log.meanwhile = [lambda: arena.join(table, "cleo", "dora")]
    refused("match-full", arena.join, table, bot)


def _another_bot_is_busy(arena: Arena, bot: str, busy: str) -> None:
    refused("bot-busy", arena.create, seats=3, by=ADA.id, bots=(bot, busy))


def _has_too_many_matches(arena: Arena, bot: str, _: str) -> None:
    for _number in range(OPEN_MATCHES - 1):  # `busy` has a seat in another one
        arena.create(seats=3, by=ADA.id)
    refused("too-many-open-matches", arena.create, seats=3, by=ADA.id, bots=(bot,))


@pytest.mark.parametrize("fails", [_is_full, _loses_a_race, _another_bot_is_busy, _has_too_many_matches])
def test_a_match_in_which_a_bot_got_no_seat_does_not_count(
    arena: Arena, fails: Callable[[Arena, str, str], None]
) -> None:
    bot, busy = made(arena, max_matches=1), made(arena, max_matches=1)
    seated(arena, busy)
    fails(arena, bot, busy)
    assert arena.ports.bots.admitted(bot) == {}

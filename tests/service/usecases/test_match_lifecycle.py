"""The use cases before play: create, join, seat a bot, start."""

import pytest

from events.log import Conflict
from events.memory_log import MemoryLog
from service.adapters.memory import local_ports
from service.errors import Corrupt, Refused
from service.games.registry import GAMES
from service.match.new_match import NewMatch
from service.match.randomness import Draws, commitment, match_key
from service.repository.index_entry import IndexEntry
from service.usecases import match_lifecycle
from service.usecases.match_codes import join_code_of, seen_join_code
from service.usecases.match_index import IN_FLIGHT_MS
from service.usecases.match_lifecycle import OPEN_MATCHES
from tests.service.arena import START, Arena, refused
from tests.service.games.toy.state import CARDS

WANTED = NewMatch("toy", 3, {"hand": 2})


def test_a_new_match_waits_for_players() -> None:
    arena = Arena()
    match = match_lifecycle.create(arena.ports, "host", WANTED, "key").match
    assert (match.status, match.creator, match.created_at) == ("open", "host", START)
    assert match.seats == (None, None, None)
    created = arena.data(match.id, 1)
    assert created["options"] == {
        "hand": 2,
        "tricks": 4,
        "trick_ms": 30_000,
        "countdown_ms": 1_000,
        "timer_visible": True,
        "ties": "drawn",
    }
    assert (created["clock"], created["private"], created["manual_start"]) == (None, False, False)
    assert arena.events(match.id)[0].by == "player:host"
    seed = arena.log.seed(match.id)
    assert seed is not None
    assert created["seed_commitment"] == commitment(seed)


def test_every_new_match_has_a_seed_of_its_own() -> None:
    arena = Arena()
    seeds = {arena.log.seed(match_lifecycle.create(arena.ports, "host", WANTED, key).match.id) for key in "abc"}
    assert len(seeds) == 3
    assert {len(seed or b"") for seed in seeds} == {32}


def test_the_same_create_is_the_same_match() -> None:
    arena = Arena()
    first = match_lifecycle.create(arena.ports, "host", WANTED, "key")
    arena.join(first.match.id, "anna", "ben", "carl")
    again = match_lifecycle.create(arena.ports, "host", WANTED, "key")
    assert (first.replayed, again.replayed) == (False, True)
    assert again.match == first.match
    others = [
        match_lifecycle.create(arena.ports, player, WANTED, key) for player, key in (("host", "key2"), ("anna", "key"))
    ]
    assert len({first.match.id, *(other.match.id for other in others)}) == 3


def test_a_create_with_the_key_of_another_one_is_refused() -> None:
    arena = Arena()
    match_lifecycle.create(arena.ports, "host", WANTED, "key")
    other = NewMatch("toy", 3, {"hand": 3})
    refused("idempotency-key-reused", match_lifecycle.create, arena.ports, "host", other, "key")


def test_the_same_create_twice_at_once_is_one_match_with_one_index_entry() -> None:
    arena = Arena()
    ids: list[str] = []

    def other() -> None:
        arena.wait(7)
        ids.append(match_lifecycle.create(arena.ports, "host", WANTED, "key").match.id)

    arena.log.meanwhile = [other]
    second = match_lifecycle.create(arena.ports, "host", WANTED, "key")
    assert second.replayed
    assert [second.match.id] == ids
    assert arena.index.page("open", None, 9) == [IndexEntry(START + 7, second.match.id)]
    assert len(arena.index.open_entries("host")) == 1


def test_two_different_creates_with_one_key_at_once() -> None:
    arena = Arena()
    arena.log.meanwhile = [lambda: match_lifecycle.create(arena.ports, "host", NewMatch("toy", 4), "key")]
    refused("idempotency-key-reused", match_lifecycle.create, arena.ports, "host", WANTED, "key")


def test_a_creation_that_conflicts_with_a_match_without_events_is_corrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    monkeypatch.setattr(arena.log, "append", lambda _append: Conflict(None))
    with pytest.raises(Corrupt):
        match_lifecycle.create(arena.ports, "host", WANTED, "key")


@pytest.mark.parametrize(
    ("wanted", "code", "facts"),
    [
        (NewMatch("chess", 2), "game-not-found", {"games": ["monkeys_on_the_moon", "toy"]}),
        (NewMatch("toy", 1), "invalid-options", {"parameter": "seats"}),
        (NewMatch("toy", 5), "invalid-options", {"parameter": "seats"}),
        (NewMatch("toy", 2, bots=("high",) * 3), "invalid-options", {"parameter": "bots"}),
        (NewMatch("toy", 2, bots=("greedy",)), "bot-not-found", {"bots": ["high", "random"]}),
        (NewMatch("toy", 2, {"hand": 9}), "invalid-options", {"parameter": ("options", "hand")}),
        (NewMatch("toy", 2, {"hand": "3"}), "invalid-options", {"parameter": ("options", "hand")}),
        (NewMatch("toy", 2, {"cheat": True}), "invalid-options", {"parameter": ("options", "cheat")}),
    ],
)
def test_an_invalid_match_is_refused_and_stores_nothing(wanted: NewMatch, code: str, facts: dict[str, object]) -> None:
    arena = Arena()
    before = arena.log.contents()
    assert refused(code, match_lifecycle.create, arena.ports, "host", wanted, "key").facts == facts
    assert arena.log.contents() == before
    assert arena.index.open_entries("host") == []


def test_failed_creations_and_starts_missing_from_the_index_block_no_player(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    for number in range(OPEN_MATCHES - 1):
        arena.index.add(f"dead-{number}", START, "host", private=True)
    table = arena.join(arena.create(private=True), "anna")
    with monkeypatch.context() as patched:
        patched.setattr(arena.index, "move", lambda *_args, **_more: None)
        arena.join(table, "ben")
    arena.create()
    refused("too-many-open-matches", arena.create)
    arena.wait(IN_FLIGHT_MS + 1)
    arena.create()
    assert len(arena.index.open_entries("host")) == 2


def test_a_player_has_a_limited_number_of_open_matches() -> None:
    arena = Arena()
    tables = [arena.create() for _ in range(OPEN_MATCHES)]
    refused("too-many-open-matches", arena.create)
    arena.create(by="anna")
    arena.join(tables[0], "anna", "ben")
    arena.create()
    refused("too-many-open-matches", arena.create)
    arena.leave(tables[1], "host")
    arena.create()


def test_a_match_of_bots_alone_does_not_count_as_open() -> None:
    arena = Arena()
    for _ in range(OPEN_MATCHES + 1):
        arena.create(bots=("random", "random"))


# --- seats ------------------------------------------------------------------------------------------------------------


def test_bots_take_the_lowest_seats() -> None:
    arena = Arena()
    table = arena.create(seats=3, bots=("random", "high"))
    match = arena.match(table)
    assert [holder and (holder.player, holder.kind) for holder in match.seats] == [
        ("random", "bot"),
        ("high", "bot"),
        None,
    ]
    assert match.status == "open"
    assert [event.by for event in arena.events(table)] == ["player:host"] * 3


def test_a_match_of_bots_alone_starts_at_once_and_the_workers_get_a_hint() -> None:
    arena = Arena()
    table = arena.create("monkeys_on_the_moon", bots=("random", "greedy"))
    assert arena.match(table).status == "running"
    assert arena.types(table) == ["match_created", "seat_taken", "seat_taken", "match_started"]
    assert arena.jobs.hinted == [table]


def test_a_full_match_with_manual_start_waits_for_its_creator() -> None:
    arena = Arena()
    table = arena.create(seats=3, bots=("high",), manual_start=True)
    refused("seats-empty", match_lifecycle.start, arena.ports, "host", table, "early")
    arena.join(table, "anna", "ben")
    assert arena.match(table).status == "open"
    refused("not-the-creator", match_lifecycle.start, arena.ports, "anna", table, "key")
    started = match_lifecycle.start(arena.ports, "host", table, "key")
    assert started.match.status == "running"
    assert match_lifecycle.start(arena.ports, "host", table, "key").replayed
    refused("match-not-open", match_lifecycle.start, arena.ports, "host", table, "again")
    bots = arena.create(bots=("high", "high"), manual_start=True)
    assert arena.match(bots).status == "open"


def test_the_last_seat_taken_starts_the_match_in_the_same_append() -> None:
    arena = Arena()
    table = arena.join(arena.create(), "anna")
    arena.log.calls.clear()
    joined = match_lifecycle.join(arena.ports, "ben", table, "key")
    assert joined.match.status == "running"
    assert arena.log.calls.count("append") == 1
    assert arena.types(table)[-2:] == ["seat_taken", "match_started"]
    assert [event.by for event in arena.events(table)][-2:] == ["player:ben", "worker"]


def test_the_client_seeds_of_all_seats_are_in_the_key_of_the_draws() -> None:
    arena = Arena()
    table = arena.create(seats=3, bots=("random",))
    arena.join(table, "anna", seed="hers")
    arena.join(table, "ben", seed="his")
    seed = arena.log.seed(table)
    assert seed is not None
    key = match_key(seed, [None, "hers", "his"])
    assert arena.match(table).client_seeds() == [None, "hers", "his"]
    assert arena.match(table).state.hands[0] == Draws(lambda: key, {}).shuffle("deck", CARDS)[:3]


def test_a_requested_seat_is_taken_if_it_is_free() -> None:
    arena = Arena()
    table = arena.create(seats=3)
    match_lifecycle.join(arena.ports, "anna", table, "a", seat=1)
    facts = refused("seat-taken", match_lifecycle.join, arena.ports, "ben", table, "b", seat=1).facts
    assert facts == {"free": [0, 2]}
    for seat in (3, -1):
        detail = refused("seat-taken", match_lifecycle.join, arena.ports, "ben", table, "b", seat=seat).detail
        assert detail.startswith(f"There is no seat {seat}; ")
    match_lifecycle.join(arena.ports, "ben", table, "b", seat=2)
    assert [holder and holder.player for holder in arena.match(table).seats] == [None, "anna", "ben"]


def test_a_player_has_one_seat() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3, private=True), "anna", "ben")
    assert refused("already-seated", match_lifecycle.join, arena.ports, "anna", table, "again").facts == {"seat": 0}


def test_the_loser_of_a_race_for_the_last_seat_is_refused() -> None:
    arena = Arena()
    table = arena.join(arena.create(), "anna")
    arena.log.meanwhile = [lambda: match_lifecycle.join(arena.ports, "ben", table, "b")]
    refused("match-not-open", match_lifecycle.join, arena.ports, "carl", table, "c")
    waiting = arena.create(manual_start=True)
    arena.join(waiting, "anna", "ben")
    refused("match-full", match_lifecycle.join, arena.ports, "carl", waiting, "c")


def test_a_started_match_gives_no_seats() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    facts = refused("match-not-open", match_lifecycle.join, arena.ports, "carl", table, "c").facts
    assert facts == {"match_status": "running"}


def test_a_private_match_gives_seats_only_for_its_code() -> None:
    arena = Arena()
    table = arena.create(seats=4, private=True)
    code = join_code_of(arena.ports.secret, table)
    for wrong in (None, "", code[:-1], code.upper(), "übel"):
        refused("match-not-found", match_lifecycle.join, arena.ports, "anna", table, "key", join_code=wrong)
    match_lifecycle.join(arena.ports, "anna", table, "key", join_code=code)
    match_lifecycle.join(arena.ports, "host", table, "key")
    other = arena.create(seats=4, private=True)
    refused("match-not-found", match_lifecycle.join, arena.ports, "anna", other, "key", join_code=code)
    refused("match-not-found", match_lifecycle.join, arena.ports, "anna", "nowhere", "key", join_code=code)


def test_the_join_code_is_shown_to_the_creator_and_the_seats() -> None:
    arena = Arena()
    table = arena.join(arena.create(private=True, seats=3), "anna")
    match = arena.match(table)
    code = join_code_of(arena.ports.secret, match.id)
    assert [seen_join_code(arena.ports, match, player) for player in ("host", "anna", "ben")] == [code, code, None]
    assert seen_join_code(arena.ports, arena.match(arena.create()), "host") is None


def test_the_creator_may_seat_bots_and_the_last_one_starts_the_match() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3), "anna")
    refused("not-the-creator", match_lifecycle.add_bot, arena.ports, "anna", table, "key", bot="high")
    refused("bot-not-found", match_lifecycle.add_bot, arena.ports, "host", table, "key", bot="greedy")
    refused("seat-taken", match_lifecycle.add_bot, arena.ports, "host", table, "key", bot="high", seat=0)
    match_lifecycle.add_bot(arena.ports, "host", table, "key", bot="high", seat=2)
    assert match_lifecycle.add_bot(arena.ports, "host", table, "key", bot="high", seat=2).replayed
    match_lifecycle.add_bot(arena.ports, "host", table, "key2", bot="random")
    match = arena.match(table)
    assert (match.status, [holder and holder.player for holder in match.seats]) == (
        "running",
        ["anna", "random", "high"],
    )
    refused("match-not-open", match_lifecycle.add_bot, arena.ports, "host", table, "key3", bot="high")


def test_two_bots_of_one_name_may_play_and_a_person_of_the_same_name_too() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3, bots=("high", "high")), "high")
    match = arena.match(table)
    assert match.seat_of("high") == 2
    assert match.status == "running"


def test_the_admission_of_a_match_of_bots_is_decided_on_the_newest_head() -> None:
    log = MemoryLog()
    one, other = local_ports(GAMES, log=log), local_ports(GAMES, log=log)
    match = match_lifecycle.create(one, "pl_a", NewMatch("monkeys_on_the_moon", 2), "create").match
    admissions: list[str] = []

    def refuse() -> None:
        admissions.append("again")
        raise Refused("bots-busy", "Not now.")

    match_lifecycle.add_bot(other, "pl_a", match.id, "first", bot="random", admit_bots=refuse)
    assert not admissions
    with pytest.raises(Refused, match="bots-busy"):
        match_lifecycle.add_bot(one, "pl_a", match.id, "second", bot="random", admit_bots=refuse)
    assert one.history.newest(match.id)[0].status == "open"
    match_lifecycle.join(one, "pl_a", match.id, "join")
    assert one.history.newest(match.id)[0].status == "running"

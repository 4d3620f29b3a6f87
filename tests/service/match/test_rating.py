"""Entries of rating streams: what follows from a match, and what follows from the entries. openskill itself is the model."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace
from openskill.models import PlackettLuce

from events.chain import Draft, seal
from events.record import Event, canonical
from service.errors import Corrupt, Refused
from service.match import rating
from service.match.model import Match
from service.match.randomness import Draws
from service.match.rating import (
    COUNTED_A_DAY,
    DAY_MS,
    INITIAL,
    OPPONENTS,
    PLACED_SIGMA,
    MatchRated,
    Placing,
    Rating,
    Standing,
    follow_entry,
    order_of_leaving,
    pairs_of,
    placings,
    rate,
    rated,
    step,
)
from tests.service.arena import Arena

HISTORIES: Final = 20


def finished(*ranks: int, ended_at: int = 0) -> Match:
    """A rated match of people p0, p1, … with these ranks."""
    arena = Arena()
    players = [f"p{number}" for number in range(len(ranks))]
    table = arena.join(arena.create("toy", len(ranks), turn_seconds=20, rated=True), *players)
    match = arena.play_out(table)
    assert match.outcome is not None
    return replace(match, outcome=replace(match.outcome, ranks=ranks), ended_at=ended_at)


def entry_of(*players: str, ranks: Sequence[int] = (), ended_at: int = 0) -> MatchRated:
    placed = [Placing(player, "human", rank) for player, rank in zip(players, ranks or count(1), strict=False)]
    return rate(replace(MATCH, ended_at=ended_at), placed, {}, {})


MATCH: Final = finished(1, 2)


# --- from a match to its entry ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "left", "expected"),
    [
        ((1, 2, 3), (), (1, 2, 3)),
        ((1, 1, 3), (), (1, 1, 3)),
        ((2, 1, 3), (1,), (1, 3, 2)),  # the winner left
        ((1, 2, 3), (0, 1), (3, 2, 1)),  # who left later is ahead
        ((1, 2, 3), (1, 0), (2, 3, 1)),
        ((1, 1, 1), (2,), (1, 1, 3)),
        ((1, 2, 2), (0,), (3, 1, 1)),
        ((1, 2, 3), (2, 1, 0), (1, 2, 3)),
    ],
)
def test_seats_that_left_rank_behind_all_that_stayed(
    outcome: tuple[int, ...], left: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert tuple(one.rank for one in placings(finished(*outcome), left)) == expected


@pytest.mark.parametrize("on_timeout", ["bot", "resign"])
def test_the_first_holder_of_a_seat_is_rated_also_if_a_bot_took_it_over(on_timeout: str) -> None:
    arena = Arena()
    clock = {"turn_seconds": 30, "on_timeout": on_timeout}
    table = arena.join(arena.create("monkeys_on_the_moon", 3, clock=clock, rated=True), "anna", "ben", "carl")
    slow = arena.match(table).decisions()[0].seat
    arena.ring(table)
    match = arena.play_out(table)
    left = order_of_leaving(arena.events(table))
    assert left[0] == slow
    placed = placings(match, left)
    assert [(one.player, one.kind) for one in placed] == [("anna", "human"), ("ben", "human"), ("carl", "human")]
    assert placed[slow].rank == 3


def test_a_seat_leaves_once() -> None:
    events = [
        Event(
            version=number,
            type=kind,
            at=0,
            by="worker",
            data=msgspec.Raw(canonical({"seat": seat})),
            prev="",
            salt="",
        )
        for number, (kind, seat) in enumerate(
            [("seat_handed_over", 1), ("action", 2), ("resigned", 0), ("resigned", 1)]
        )
    ]
    assert order_of_leaving(events) == (1, 0)


# --- the model --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(HISTORIES))
def test_a_whole_history_is_what_openskill_computes(number: int) -> None:
    """The entries are rounded to millionths after each match; openskill computes the whole history without rounding."""
    chance, model = Draws(lambda: bytes([number] * 32), {}), PlackettLuce()
    players = [f"p{one}" for one in range(8)]
    exact = {player: model.rating(name=player) for player in players}
    standings: Mapping[str, Standing] = {}
    met: Mapping[str, int] = {}
    for match in range(60):
        seated = chance.shuffle("players", players)[: chance.pick("seats", (2, 3, 4, 5))]
        ranks = [chance.pick("rank", (1, 2, 3)) for _ in seated]
        entry = rate(
            replace(MATCH, ended_at=match * DAY_MS),
            [Placing(player, "human", rank) for player, rank in zip(seated, ranks, strict=True)],
            standings,
            met,
        )
        assert entry.counted
        for player, (one,) in zip(
            seated,
            model.rate([[exact[player]] for player in seated], ranks=[float(rank) for rank in ranks]),
            strict=True,
        ):
            exact[player] = one
        changed, changed_met = step(standings, met, entry)
        standings, met = {**standings, **changed}, {**met, **changed_met}
    for player, standing in standings.items():
        assert standing.rating.mu == pytest.approx(exact[player].mu * 1_000_000, abs=200)
        assert standing.rating.sigma == pytest.approx(exact[player].sigma * 1_000_000, abs=200)


def test_a_new_player_has_the_usual_rating_of_openskill_and_is_shown_as_1000() -> None:
    usual = PlackettLuce().rating()
    assert Rating(round(usual.mu * 1_000_000), round(usual.sigma * 1_000_000)) == INITIAL
    assert (INITIAL.shown, INITIAL.order) == (1000, 1)


@pytest.mark.parametrize(
    ("mu", "sigma", "expected"),
    [(25_000_000, 5_000_000, 1400), (25_000_000, 5_000_001, 1399), (0, 8_333_333, 0), (-9_000_000, 8_333_333, -360)],
)
def test_a_rating_is_shown_as_a_whole_number_in_the_order_of_leaderboards(mu: int, sigma: int, expected: int) -> None:
    assert Rating(mu, sigma).shown == expected


# --- from the entries to the standings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [((1, 2, 3), [(1, 0, 0), (0, 0, 1), (0, 0, 1)]), ((1, 1, 3), [(0, 1, 0), (0, 1, 0), (0, 0, 1)])],
)
def test_results_are_counted(ranks: tuple[int, ...], expected: list[tuple[int, int, int]]) -> None:
    standings, _ = step({}, {}, entry_of("a", "b", "c", ranks=ranks))
    assert [(one.won, one.shared, one.lost) for one in standings.values()] == expected
    assert {one.matches for one in standings.values()} == {1}


def test_two_players_count_ten_times_a_day_and_the_whole_match_then_does_not() -> None:
    standings: Mapping[str, Standing] = {}
    met: Mapping[str, int] = {}
    found = []
    last_of_day = 5 * DAY_MS - 1
    table: list[tuple[int, tuple[str, ...]]] = [*[(last_of_day, ("a", "b"))] * 11, (last_of_day, ("c", "b", "a"))]
    for ended_at, players in [*table, (last_of_day, ("a", "c")), (last_of_day + 1, ("b", "a"))]:
        placed = [Placing(player, "human", rank) for rank, player in enumerate(players, 1)]
        entry = rate(replace(MATCH, ended_at=ended_at), placed, standings, met)
        assert (entry.seats[0].before == entry.seats[0].after) is not entry.counted
        found.append(entry.counted)
        changed, changed_met = step(standings, met, entry)
        assert bool(changed) is entry.counted
        standings, met = {**standings, **changed}, {**met, **changed_met}
    assert found == [True] * COUNTED_A_DAY + [False, False, True, True]
    assert standings["a"].matches == COUNTED_A_DAY + 2
    assert met == {"4 a b": 10, "4 a c": 1, "5 a b": 1}
    assert pairs_of(["b", "c", "a"], DAY_MS) == ("1 a b", "1 a c", "1 b c")


def test_a_place_needs_ten_different_opponents_and_little_uncertainty() -> None:
    sure = Rating(25_000_000, PLACED_SIGMA)
    opponents = tuple(f"p{number}" for number in range(OPPONENTS))
    assert Standing("human", sure, opponents=opponents).is_placed
    assert not Standing("human", sure, opponents=opponents[1:]).is_placed
    assert not Standing("human", replace(sure, sigma=PLACED_SIGMA + 1), opponents=opponents).is_placed


def test_only_the_first_ten_different_opponents_are_kept() -> None:
    standing: Mapping[str, Standing] = {}
    for number in (1, 1, *range(1, 13)):
        standing = step(standing, {}, entry_of("a", f"p{number}"))[0]
    assert standing["a"].opponents == tuple(f"p{number}" for number in range(1, 11))


# --- stored entries ---------------------------------------------------------------------------------------------------


def stored(data: Any, kind: str = "match_rated") -> bytes:
    (entry,), _ = seal(rating.first_line("toy")[1], [Draft(kind, "worker", canonical(data))], 1, ["0" * 32])
    return entry


ENTRY: Final = msgspec.to_builtins(entry_of("a", "b"))


def test_an_entry_is_read_as_it_was_written() -> None:
    entry = follow_entry(rating.first_line("toy")[1], stored(ENTRY))
    assert (entry.head.version, entry.at, entry.rated) == (1, 1, entry_of("a", "b"))
    assert rating.entry_at(1, stored(ENTRY)) == entry


@pytest.mark.parametrize(
    "newer", [stored({**ENTRY, "weather": 1}), stored({**ENTRY, "counted": None}), stored(ENTRY, "match_unrated")]
)
def test_an_entry_of_a_newer_release_is_not_read(newer: bytes) -> None:
    with pytest.raises(Refused, match="engine-too-old"):
        follow_entry(rating.first_line("toy")[1], newer)


@pytest.mark.parametrize("damaged", [b"", b"{}", stored(ENTRY)[:-2], stored(ENTRY).replace(b"toy", b"tox") + b" "])
def test_a_damaged_entry_is_found(damaged: bytes) -> None:
    with pytest.raises(Corrupt):
        follow_entry(rating.first_line("toy")[1], damaged)
    with pytest.raises(Corrupt):
        rating.entry_at(1, damaged)


def test_an_entry_of_another_game_s_stream_breaks_the_chain() -> None:
    with pytest.raises(Corrupt):
        follow_entry(rating.first_line("ape_town")[1], stored(ENTRY))


def test_equal_ranks_of_equal_players_change_no_skill() -> None:
    first, second = rated((INITIAL, INITIAL), (1, 1))
    assert first == second
    assert abs(first.mu - INITIAL.mu) <= 1
    assert first.sigma < INITIAL.sigma


# --- hosted bots ------------------------------------------------------------------------------------------------------


def hosted_entry(*players: tuple[str, str | None], met: Mapping[str, int] | None = None) -> MatchRated:
    """The entry of a match of players, each with the owner of a hosted bot, or None."""
    placed = [
        Placing(player, "human" if owner is None else "hosted", rank, owner)
        for rank, (player, owner) in enumerate(players, 1)
    ]
    return rate(MATCH, placed, {}, met or {})


@pytest.mark.parametrize(
    ("players", "counted"),
    [
        ((("p0", None), ("bt_1", "ella")), True),
        ((("bt_1", "ella"), ("bt_2", "finn")), True),
        ((("bt_1", "ella"), ("bt_2", "ella")), False),
        ((("ella", None), ("bt_1", "ella")), False),
        ((("p0", None), ("bt_1", "ella"), ("bt_2", "ella")), False),
    ],
)
def test_a_match_of_two_bots_of_one_owner_or_of_a_bot_and_its_owner_does_not_count(
    players: tuple[tuple[str, str | None], ...], counted: bool
) -> None:
    entry = hosted_entry(*players)
    assert entry.counted is counted
    assert [seat.owner or None for seat in entry.seats] == [owner for _, owner in players]
    assert all((seat.before == seat.after) is not counted for seat in entry.seats)


def test_the_matches_of_all_bots_of_an_owner_count_together() -> None:
    first = hosted_entry(("p0", None), ("bt_1", "ella"))
    assert first.pairs == pairs_of(("p0", "ella"), 0)
    met = dict.fromkeys(first.pairs, COUNTED_A_DAY)
    for other in (("bt_2", "ella"), ("ella", None)):
        assert not hosted_entry(("p0", None), other, met=met).counted
    assert hosted_entry(("p0", None), ("bt_3", "finn"), met=met).counted


def test_two_bots_of_one_owner_are_one_opponent() -> None:
    standings: Mapping[str, Standing] = {}
    for bot in ("bt_1", "bt_2", "ella"):
        entry = hosted_entry(("p0", None), (bot, None if bot == "ella" else "ella"))
        standings = {**standings, **step(standings, {}, entry)[0]}
    assert standings["p0"].opponents == ("ella",)
    assert standings["bt_1"].kind == "hosted"


def test_a_hosted_bot_that_failed_ranks_behind_all_that_stayed_and_is_rated_itself() -> None:
    arena = Arena()
    bot = arena.host("bt_bot", "ella")
    table = arena.create("monkeys_on_the_moon", 2, clock={"turn_seconds": 30}, rated=True, bot_fallback="bot")
    arena.join(table, "anna", bot)
    while arena.match(table).seats[1] is not None and arena.match(table).seats[1].kind == "hosted":  # type: ignore[union-attr]
        (decision,) = arena.match(table).decisions()
        if decision.called_at is None:
            arena.act(table, "anna")
        else:
            arena.ring(table)
    match = arena.play_out(table)
    assert placings(match, order_of_leaving(arena.events(table))) == (
        Placing("anna", "human", 1),
        Placing("bt_bot", "hosted", 2, "ella"),
    )

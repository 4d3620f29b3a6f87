"""Rating matches: one entry for each match, whatever happens meanwhile, and leaderboards that follow from the entries."""

from collections.abc import Callable
from functools import partial

import pytest

from events.chain import Draft, seal
from events.log import Append
from events.record import canonical
from service.automation import rating
from service.errors import Corrupt, Refused
from service.match import due_times as kinds
from service.match.rating import command_of, first_line, stream_of
from service.repository.ports import ENDING_MS
from service.repository.rating_streams import entries, entry_of
from service.views import match_views
from tests.service.arena import Arena
from tests.service.rated import GAME, check, over


def due(arena: Arena) -> list[str]:
    return [one.match for one in arena.log.scheduled("rating")]


def rated_matches(arena: Arena) -> list[str]:
    return [entry.rated.match for entry in entries(arena.log, GAME)]


def test_a_match_is_rated_once_however_often_it_is_due() -> None:
    arena = Arena()
    tables = [over(arena) for _ in range(3)]
    assert due(arena) == tables
    for table in (*tables[::-1], *tables):
        rating.rate(arena.ports, table)
    assert rated_matches(arena) == tables[::-1]
    assert due(arena) == check(arena) == []
    assert arena.ports.ratings.standings(GAME, ("anna",))["anna"].matches == 3


def test_a_match_that_is_not_rated_or_not_over_gets_no_entry() -> None:
    arena = Arena()
    plain = arena.join(arena.create(turn_seconds=20), "anna", "ben")
    arena.play_out(plain)
    running = arena.join(arena.create(turn_seconds=20, rated=True), "anna", "ben")
    for table in (plain, running):
        arena.log.rearm(table, arena.version(table), {"rating": arena.time})
        rating.rate(arena.ports, table)
    assert rated_matches(arena) == due(arena) == []


def test_the_time_of_an_entry_is_never_before_the_entry_before() -> None:
    arena = Arena()
    first, second = over(arena), over(arena)
    rating.rate(arena.ports, first)
    arena.time -= 60_000
    rating.rate(arena.ports, second)
    times = [entry.at for entry in entries(arena.log, GAME)]
    assert times[0] == times[1]


@pytest.mark.parametrize("when", ["meanwhile", "afterwards"])
def test_two_workers_that_rate_at_once_write_each_match_once(when: str) -> None:
    """The second worker rates the other match, and then the same one, while the first one appends."""
    arena = Arena()
    first, second = over(arena), over(arena, "carl", "anna")
    hooks: list[Callable[[], object]] = getattr(arena.log, when)
    hooks += [partial(rating.rate, arena.ports, second), partial(rating.rate, arena.ports, first)]
    rating.rate(arena.ports, first)
    rating.rate(arena.ports, second)
    assert sorted(rated_matches(arena)) == sorted([first, second])
    assert check(arena) == due(arena) == []


def test_leaderboards_that_are_behind_are_folded_before_the_next_match(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    for _ in range(7):
        rating.rate(arena.ports, over(arena))
    arena.ports.ratings.clear(GAME)
    monkeypatch.setattr(rating, "MAX_FOLDED", 3)
    last = over(arena)
    for _ in range(2):
        rating.rate(arena.ports, last)
        assert (len(rated_matches(arena)), due(arena)) == (7, [last])  # one call folds only so much
    rating.rate(arena.ports, last)
    assert (len(rated_matches(arena)), due(arena), check(arena)) == (8, [], [])


def test_a_rebuild_gives_the_same_leaderboards_also_while_matches_are_rated() -> None:
    arena = Arena()
    for _ in range(3):
        rating.rate(arena.ports, over(arena))
    before = arena.ports.ratings.known(GAME, ("anna", "ben"), ())
    assert rating.rebuild(arena.ports, GAME) == 3
    assert arena.ports.ratings.known(GAME, ("anna", "ben"), ()) == before
    late = over(arena)
    clear = arena.ports.ratings.clear

    def clear_and_rate(game: str) -> None:
        clear(game)
        rating.rate(arena.ports, late)

    arena.ports.ratings.clear = clear_and_rate  # type: ignore[method-assign]
    assert rating.rebuild(arena.ports, GAME) == 4
    assert check(arena) == []


def test_a_stream_that_is_not_the_one_of_the_leaderboards_is_not_continued() -> None:
    arena = Arena()
    rating.rate(arena.ports, over(arena))
    (entry,) = arena.log.stored(stream_of(GAME))
    arena.log.rewrite(stream_of(GAME), [entry.replace(b'"counted":true', b'"counted":false')])
    late = over(arena)
    with pytest.raises(Corrupt, match="rebuild"):
        rating.rate(arena.ports, late)
    assert due(arena) == [late]
    assert len(arena.log.stored(stream_of(GAME))) == 1


def test_an_entry_of_a_newer_release_stops_the_rating_of_this_one() -> None:
    arena = Arena()
    (entry,), _ = seal(first_line(GAME)[1], [Draft("season_begun", "worker", canonical({}))], 1, ["0" * 32])
    arena.log.append(Append(stream_of(GAME), "season", "", first_line(GAME)[1], (entry,)))
    table = over(arena)
    with pytest.raises(Refused, match="engine-too-old"):
        rating.rate(arena.ports, table)
    assert due(arena) == [table]
    assert "version 1" in check(arena)[0]


def test_matches_that_an_older_release_scored_are_rated_too(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    rating.rate(arena.ports, over(arena))
    with monkeypatch.context() as older:
        older.setattr(kinds, "FINAL_KINDS", {})
        forgotten = [over(arena), over(arena)]
    assert due(arena) == []
    assert [fault.split()[1] for fault in check(arena)] == forgotten
    waiting = over(arena)
    assert rating.adopt(arena.ports) == 2
    assert due(arena) == [*forgotten, waiting]
    assert check(arena) == []
    for table in due(arena):
        rating.rate(arena.ports, table)
    assert rating.adopt(arena.ports) == 0
    assert len(rated_matches(arena)) == 4


def test_adopting_waits_for_a_match_that_is_about_to_end() -> None:
    arena = Arena()
    table = arena.join(arena.create(turn_seconds=20, rated=True), "anna", "ben")
    match = arena.match(table)
    arena.index.end(table, match.created_at, arena.time)
    rating.adopt(arena.ports)
    assert arena.ports.ratings.adopted() == 0
    arena.wait(2 * ENDING_MS + 1)
    rating.adopt(arena.ports)
    assert arena.ports.ratings.adopted() > 0


def test_the_entry_of_a_match_is_found_by_its_command() -> None:
    arena = Arena()
    table, other = over(arena), over(arena)
    rating.rate(arena.ports, table)
    entry = entry_of(arena.log, arena.match(table))
    assert entry is not None
    assert entry.rated.match == table
    assert entry_of(arena.log, arena.match(other)) is None
    assert command_of(table) == f"rate:{table}"


def test_an_entry_that_is_lost_is_reported_as_damage() -> None:
    arena = Arena()
    table = over(arena)
    rating.rate(arena.ports, table)
    arena.log.rewrite(stream_of(GAME), [b"lost"])
    arena.log._matches[stream_of(GAME)].events.clear()
    with pytest.raises(Corrupt, match="not in the log any more"):
        entry_of(arena.log, arena.match(table))


def test_the_time_of_an_entry_is_never_before_the_end_of_its_match() -> None:
    arena = Arena()
    table = over(arena)
    ended_at = arena.time
    arena.time -= 60_000
    rating.rate(arena.ports, table)
    assert [entry.at for entry in entries(arena.log, GAME)] == [ended_at]


def test_leaderboards_that_a_process_left_behind_the_stream_catch_up_without_another_match() -> None:
    arena = Arena()
    for _ in range(5):
        rating.rate(arena.ports, over(arena))
    expected = arena.ports.ratings.known(GAME, ("anna", "ben"), ())
    arena.ports.ratings.clear(GAME)
    assert rating.catch_up(arena.ports, GAME, lambda: False) == 0
    assert arena.ports.ratings.known(GAME, (), ()).head is None
    assert rating.catch_up(arena.ports, GAME) == 5
    assert arena.ports.ratings.known(GAME, ("anna", "ben"), ()) == expected


def test_seats_show_the_ratings_that_their_players_have_now_in_that_game() -> None:
    arena = Arena()
    table = over(arena, "anna", "ben")
    (before,) = match_views.summaries(arena.ports, [arena.match(table)])
    assert [seat.rating for seat in before.seats] == [None, None]
    rating.rate(arena.ports, table)
    standings = arena.ports.ratings.standings(GAME, ("anna", "ben"))
    shown = [standings[player].rating.shown for player in ("anna", "ben")]
    (after,) = match_views.summaries(arena.ports, [arena.match(table)])
    assert [seat.rating for seat in after.seats] == shown
    assert [seat.rating for seat in match_views.see(arena.ports, arena.match(table), 1).seats] == shown
    bot = arena.join(arena.create(GAME, 3, bots=("high",)), "ben")
    assert [seat.rating for seat in match_views.see(arena.ports, arena.match(bot), None).seats] == [
        None,
        shown[1],
        None,
    ]
    other = arena.join(arena.create("monkeys_on_the_moon", 2), "anna")
    assert [seat.rating for seat in match_views.see(arena.ports, arena.match(other), None).seats] == [None, None]
    assert [seat.rating for seat in match_views.summary_without_names(arena.match(table)).seats] == [None, None]

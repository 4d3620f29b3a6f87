"""The check of ratings: it finds every change of an entry and of a leaderboard, and matches may be rated meanwhile."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from events.chain import Draft, seal
from events.record import canonical
from service.automation import rating
from service.match import rating as rating_model
from service.match.rating import Standing, first_line, stream_of
from service.repository.rating_streams import entries
from tests.service.arena import Arena
from tests.service.rated import GAME, check, over


def forged(change: Callable[[dict[str, Any]], object]) -> list[str]:
    """The faults that the check finds after a change of the second of three entries, with a rebuilt chain."""
    arena = Arena()
    for _ in range(3):
        rating.rate(arena.ports, over(arena))
    head, lines = first_line(GAME)[1], []
    for number, entry in enumerate(entries(arena.log, GAME)):
        data = msgspec.to_builtins(entry.rated)
        if number == 1:
            change(data)
        (stored,), head = seal(head, [Draft("match_rated", "worker", canonical(data))], entry.at, ["0" * 32])
        lines.append(stored)
    arena.log.rewrite(stream_of(GAME), lines)
    rating.rebuild(arena.ports, GAME)
    return check(arena)


def _seat(**values: Any) -> Callable[[dict[str, Any]], object]:
    return lambda data: data["seats"][0].update(values)


def _more(field: str, millionths: int) -> Callable[[dict[str, Any]], object]:
    def change(data: dict[str, Any]) -> None:
        data["seats"][0]["after"][field] += millionths

    return change


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (_seat(player="eve"), "other players or ranks"),
        (_seat(rank=3), "other players or ranks"),
        (_seat(kind="hosted"), "other players or ranks"),
        (_seat(before={"mu": 1, "sigma": 1}), "is not the one after the match before"),
        (_more("mu", 2), "does not follow from those before"),
        (_more("sigma", -2), "does not follow from those before"),
        (lambda data: data.update(counted=False), "whether"),
        (lambda data: data.update(head="00"), "another head"),
        (lambda data: data.update(ended_at=data["ended_at"] + 1), "another head"),
        (lambda data: data.update(match="none"), "No match has this id"),
    ],
)
def test_a_check_finds_every_change_of_an_entry(change: Callable[[dict[str, Any]], object], fault: str) -> None:
    found = forged(change)
    assert any(one.startswith("version 2: ") and fault in one for one in found), found


@pytest.mark.parametrize("millionths", [1, -1])
def test_a_last_digit_that_differs_by_one_is_no_fault_of_its_entry(millionths: int) -> None:
    assert not any(one.startswith("version 2: ") for one in forged(_more("mu", millionths)))


def test_a_check_finds_a_match_that_was_rated_twice_and_a_broken_chain() -> None:
    arena = Arena()
    rating.rate(arena.ports, over(arena))
    (entry,) = entries(arena.log, GAME)
    data = canonical(entry.rated)
    (again,), _ = seal(entry.head, [Draft("match_rated", "worker", data)], entry.at, ["0" * 32])
    stored = arena.log.stored(stream_of(GAME))
    arena.log.rewrite(stream_of(GAME), [*stored, again])
    assert any("was rated before" in fault for fault in check(arena))
    arena.log.rewrite(stream_of(GAME), [stored[0], again.replace(b"anna", b"eve_")])
    assert any("version 2" in fault for fault in check(arena))


def test_a_check_finds_leaderboards_that_do_not_follow() -> None:
    arena = Arena()
    rating.rate(arena.ports, over(arena))
    other = Arena()
    rating.rate(other.ports, over(other, "ben", "anna"))
    kept = arena.ports.ratings
    kept._games[GAME].standings = other.ports.ratings._games[GAME].standings  # type: ignore[attr-defined]
    assert check(arena) == ["the leaderboards do not follow from the entries; run `moonstone ratings rebuild`"]
    rating.rebuild(arena.ports, GAME)
    assert check(arena) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"at": 1}, "version 2: its time is before that of the entry before"),
        ({"by": "player:anna"}, "version 2: was not written by a worker"),
    ],
)
def test_a_check_finds_a_changed_envelope(change: dict[str, Any], fault: str) -> None:
    arena = Arena()
    for _ in range(3):
        rating.rate(arena.ports, over(arena))
    head, lines = first_line(GAME)[1], []
    for number, entry in enumerate(entries(arena.log, GAME)):
        envelope = {"at": entry.at, "by": "worker", **(change if number == 1 else {})}
        draft = Draft("match_rated", envelope["by"], canonical(entry.rated))
        (stored,), head = seal(head, [draft], envelope["at"], ["0" * 32])
        lines.append(stored)
    arena.log.rewrite(stream_of(GAME), lines)
    arena.ports.ratings.clear(GAME)
    assert fault in check(arena)


def test_a_check_finds_an_entry_that_the_log_would_not_recognize() -> None:
    arena = Arena()
    table = over(arena)
    rating.rate(arena.ports, table)
    arena.log._matches[stream_of(GAME)].commands.clear()
    found = check(arena)
    assert found[0] == f"version 1: the log does not know it as the entry of match {table}, which may be rated again"


def easy_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every player with two opponents a place on the leaderboard."""
    monkeypatch.setattr(rating_model, "PLACED_SIGMA", 9_000_000)
    monkeypatch.setattr(rating_model, "OPPONENTS", 2)


def lose_past(arena: Arena) -> None:
    kept = arena.ports.ratings._games[GAME]  # type: ignore[attr-defined]
    del kept.past[3]


def change_past(arena: Arena) -> None:
    kept = arena.ports.ratings._games[GAME]  # type: ignore[attr-defined]
    player, past = kept.past[3]
    kept.past[3] = player, msgspec.structs.replace(past, rank=5)


def lose_pair(arena: Arena) -> None:
    kept = arena.ports.ratings._games[GAME]  # type: ignore[attr-defined]
    kept.met.popitem()


def add_pair(arena: Arena) -> None:
    kept = arena.ports.ratings._games[GAME]  # type: ignore[attr-defined]
    kept.met["1 anna zoe"] = 10


def add_player(arena: Arena) -> None:
    kept = arena.ports.ratings._games[GAME]  # type: ignore[attr-defined]
    kept.standings["zoe"] = Standing("human")


def list_nobody(arena: Arena) -> None:
    arena.ports.ratings._board = lambda *_: []  # type: ignore[attr-defined]


def list_worst_first(arena: Arena) -> None:
    board = arena.ports.ratings._board  # type: ignore[attr-defined]
    arena.ports.ratings._board = lambda *names: board(*names)[::-1]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "damage", [lose_past, change_past, lose_pair, add_pair, add_player, list_nobody, list_worst_first]
)
def test_a_check_finds_everything_that_does_not_follow_from_the_entries(
    damage: Callable[[Arena], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    easy_places(monkeypatch)
    arena = Arena()
    for players in (("anna", "ben"), ("carl", "anna"), ("ben", "carl")):
        rating.rate(arena.ports, over(arena, *players))
    assert check(arena) == []
    damage(arena)
    assert check(arena) == ["the leaderboards do not follow from the entries; run `moonstone ratings rebuild`"]


# --- while matches are rated ------------------------------------------------------------------------------------------


def test_matches_that_are_rated_during_a_check_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """A match is rated after each thing that the check reads from the leaderboards."""
    easy_places(monkeypatch)
    arena = Arena()
    for _ in range(2):
        rating.rate(arena.ports, over(arena))
    kept = arena.ports.ratings
    read = 0

    def rating_meanwhile(name: str) -> Callable[..., Any]:
        method = getattr(kept, name)

        def call(*given: Any) -> Any:
            nonlocal read
            answer = method(*given)
            if isinstance(answer, Iterator):
                answer = iter(list(answer))
            if not is_rating:
                read += 1
                rate()
            return answer

        return call

    is_rating = False

    def rate() -> None:
        nonlocal is_rating
        is_rating = True
        rating.rate(arena.ports, over(arena, "anna", f"player{read}"))
        is_rating = False

    for name in ("known", "everyone", "pairs", "leaders", "past"):
        setattr(kept, name, rating_meanwhile(name))
    assert check(arena) == []
    assert read >= 8


def test_a_match_that_ends_during_a_check_is_no_fault() -> None:
    """When the check has read what is due, another match ends, and the first one is rated. When it reads it again, so is the other."""
    arena = Arena()
    first = over(arena)
    scheduled = arena.log.scheduled
    calls = 0

    def scheduled_meanwhile(kind: str) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            rating.rate(arena.ports, other[0])
        found = scheduled(kind)
        if calls == 1:
            other.append(over(arena))
            rating.rate(arena.ports, first)
        return found

    other: list[str] = []
    arena.log.scheduled = scheduled_meanwhile  # type: ignore[method-assign]
    assert check(arena) == []
    assert calls == 2

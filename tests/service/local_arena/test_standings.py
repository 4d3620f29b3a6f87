"""The standings after some deals: pairwise scores, points, times, failures, curves and the plot."""

from itertools import pairwise as pairwise_points
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from service.arena.deals import BotFailure, Contest, Deal, MatchResult, counted, percentile_ms
from service.arena.plot import plot
from service.arena.sprt import Sprt
from service.arena.standings import MOST_POINTS, Standings, pairwise
from service.arena.table import table

SVG = "{http://www.w3.org/2000/svg}"
DUEL = Contest("toy", ("a", "b"), {}, "00", 100)


def deal(number: int, *ranks: tuple[int, ...], failures: tuple[BotFailure, ...] = ()) -> Deal:
    seats = len(ranks[0])
    points = tuple(10 * seat for seat in range(seats))
    return Deal(number, tuple(MatchResult(one, points, failures) for one in ranks), ({100: 3},) * seats)


@pytest.mark.parametrize(
    ("names", "ranks", "scores"),
    [
        (("a", "b"), (1, 2), {"a": 1.0, "b": 0.0}),
        (("a", "b"), (1, 1), {"a": 0.5, "b": 0.5}),
        (("a", "b", "c"), (2, 1, 3), {"a": 0.5, "b": 1.0, "c": 0.0}),
        (("a", "b", "c"), (1, 1, 3), {"a": 0.75, "b": 0.75, "c": 0.0}),
        (("a", "b", "b"), (2, 1, 3), {"a": 0.5, "b": 0.5}),
        (("a", "b", "b", "b"), (1, 2, 2, 4), {"a": 1.0, "b": 0.0}),
    ],
)
def test_a_match_is_scored_by_the_ranks_of_its_pairs(
    names: tuple[str, ...], ranks: tuple[int, ...], scores: dict[str, float]
) -> None:
    match = MatchResult(ranks, ranks)
    assert {name: pairwise(names, match, name) for name in names} == scores


def test_rows_have_the_means_the_times_and_the_first_failure() -> None:
    standings = Standings(DUEL)
    standings.add(deal(0, (1, 2), (1, 1)))
    standings.add(deal(1, (1, 2), (2, 1), failures=(BotFailure(1, "crash", "why"),)))
    first, second = standings.rows()
    assert (first.bot, first.score, second.score) == ("a", 0.625, 0.375)
    assert (first.points, second.points) == (0.0, 10.0)
    assert (first.answers, second.failures) == (6, {"crash": 2})
    assert second.first_failure == "crash in deal 1, rotation 0: why"
    assert first.elo is not None
    assert second.elo == pytest.approx(-first.elo)


def test_a_bot_that_wins_everything_has_no_finite_elo() -> None:
    standings = Standings(DUEL)
    for number in range(10):
        standings.add(deal(number, (1, 2), (1, 2)))
    row = standings.rows()[0]
    assert (row.score, row.elo, row.elo_interval[1]) == (1.0, None, None)
    assert row.elo_interval[0] is not None
    assert row.elo_interval[0] > 100


def test_times_are_counted_to_about_one_per_cent() -> None:
    times = counted([1, 10, 1000, 5000, 250_000])
    assert percentile_ms(times, 0.5) == pytest.approx(1.0, rel=0.01)
    assert percentile_ms(times, 0.99) == pytest.approx(250.0, rel=0.01)
    assert percentile_ms({}, 0.5) is None


def test_a_long_curve_keeps_a_bounded_number_of_points_and_its_end() -> None:
    standings = Standings(DUEL)
    for number in range(5 * MOST_POINTS):
        standings.add(deal(number, (1, 2), (2, 1)))
    (curve,) = standings.curves().values()
    assert MOST_POINTS / 4 < len(curve) <= MOST_POINTS + 1
    assert curve[-1].matches == standings.matches
    steps = {later.matches - earlier.matches for earlier, later in pairwise_points(curve[:-1])}
    assert len(steps) == 1, "the points are evenly spaced"


@pytest.mark.parametrize("bots", [("a", "b"), ("a", "<b>", "c & d")])
def test_the_plot_has_a_band_and_a_line_for_each_curve_within_its_frame(bots: tuple[str, ...]) -> None:
    standings = Standings(Contest("toy", bots, {}, "00", 100))
    ranks = tuple(range(1, len(bots) + 1))
    for number in range(40):
        standings.add(deal(number, *([ranks, ranks[::-1]][number % 3 == 0],) * len(bots)))
    drawn = ET.fromstring(plot(standings))
    lines, bands = drawn.findall(f"{SVG}polyline"), drawn.findall(f"{SVG}polygon")
    assert len(lines) == len(bands) == len(standings.curves())
    width, height = (float(value) for value in drawn.attrib["viewBox"].split()[2:])
    for shape in (*lines, *bands):
        for point in shape.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height
    texts = " ".join("".join(text.itertext()) for text in drawn.iter(f"{SVG}text"))
    assert "50 %" in texts
    assert all(bot in texts for bot in (bots[:1] if len(bots) == 2 else bots))


def test_the_table_shows_every_figure() -> None:
    standings = Standings(DUEL, Sprt(0, 100))
    for number in range(60):
        failures = (BotFailure(1, "timeout", "slow"),) if number == 3 else ()
        standings.add(deal(number, (1, 2), [(2, 1), (1, 2)][number % 2], failures=failures))
    console = Console(width=160)
    with console.capture() as capture:
        console.print(table(standings, 2.0, 100))
    text = capture.get()
    narrow = Console(width=80)
    with narrow.capture() as capture:
        narrow.print(table(standings, 2.0, 100))
    assert {"bot", "score", "p99", "failed"} <= set(capture.get().split())
    for expected in (
        "75.0",
        "+191",
        "2 timeout; the first: timeout in deal 3",
        "120 of 200 matches, 60 deals, 2 s, 60.0 a second",
        "LLR",
        "slow",
    ):
        assert expected in text
    state = standings.sprt()
    assert state is not None
    assert state.verdict == "elo1"
    assert "Accepted: a is stronger than b by 100 Elo or more." in text


def test_the_table_shows_names_as_they_are() -> None:
    standings = Standings(Contest("toy", ("[red]a:b", "[/]:smile:"), {}, "00", 100))
    standings.add(deal(0, (1, 2), (1, 2)))
    console = Console(width=160)
    with console.capture() as capture:
        console.print(table(standings, 2.0, 1))
    assert {"[red]a:b", "[/]:smile:"} <= set(capture.get().split())

"""The standings after some deals: pairwise scores, points, times, failures, curves and the plot."""

from collections import Counter
from itertools import pairwise as pairwise_points
from math import inf
from statistics import mean
from typing import Literal
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from service.arena.deals import BotFailure, Contest, Deal, MatchResult, counted, percentile_ms
from service.arena.plot import plot
from service.arena.sprt import Sprt
from service.arena.standings import MOST_POINTS, End, SprtState, Standings, pair_results
from service.arena.table import WIDTH, sprt_line, table

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
    results = {name: pair_results(names, match, name) for name in names}
    assert {name: mean(pairs) for name, pairs in results.items()} == scores


def test_rows_have_the_means_the_times_and_the_first_failure() -> None:
    standings = Standings(DUEL)
    standings.add(deal(0, (1, 2), (1, 1)))
    standings.add(deal(1, (1, 2), (2, 1), failures=(BotFailure(1, "crash", "why"),)))
    first, second = standings.rows()
    assert (first.bot, first.score, second.score) == ("a", 0.625, 0.375)
    assert (first.won, first.drawn, first.lost) == (2, 1, 1)
    assert (second.won, second.drawn, second.lost) == (1, 1, 2)
    assert (first.points, second.points) == (0.0, 10.0)
    assert (first.answers, second.failures) == (6, {"crash": 2})
    assert second.first_failure == "crash in deal 1, rotation 0: why"
    assert isinstance(first.elo, float)
    assert second.elo == pytest.approx(-first.elo)


def test_the_pairs_of_a_table_are_counted() -> None:
    standings = Standings(Contest("toy", ("a", "b", "b"), {}, "00", 100))
    standings.add(deal(0, (1, 1, 3), (2, 1, 3), (1, 2, 3)))
    counts = {row.bot: (row.won, row.drawn, row.lost) for row in standings.rows()}
    assert counts == {"a": (4, 1, 1), "b": (1, 1, 4)}


def test_infinite_elo_differences_can_be_distinguished_in_json() -> None:
    standings = Standings(DUEL)
    for number in range(10):
        standings.add(deal(number, (1, 2), (1, 2)))
    best, worst = standings.rows()
    assert (best.score, best.elo, best.elo_interval[1]) == (1.0, "Infinity", "Infinity")
    assert (worst.score, worst.elo, worst.elo_interval[0]) == (0.0, "-Infinity", "-Infinity")
    assert float(best.elo_interval[0]) > 100
    assert float(worst.elo) == -inf


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
    for expected in (
        "75.0",
        "+191",
        "failed in 2 matches, which default actions played to the end",
        "2 timeout; the first: timeout in deal 3",
        "120 of 200 matches, 60 deals, 2 s, 60.0 a second",
        "LLR",
        "slow",
        "won  drawn  lost",
        "90      0    30",
    ):
        assert expected in text
    state = standings.sprt()
    assert state is not None
    assert state.verdict == "elo1"
    assert "Accepted: a is stronger than b." in text


def test_the_largest_figures_fit_into_80_columns() -> None:
    """Only the names of bots are wrapped."""
    names = ("a_module_with_a_long_name:play", "node another/folder/of/a/bot/arena.mjs")
    standings = Standings(Contest("toy", names, {}, "00", 100))
    for number in range(6):
        standings.add(deal(number, (1, 2), (1, 2)))
    for bot in standings._bots.values():
        bot.pairs = Counter({value: 100_000 * count for value, count in bot.pairs.items()} | {0.5: 1_000_000})
        bot.times = Counter({800: 5, 900: 5})
        bot.points = 12_345_678
    console = Console(width=WIDTH)
    with console.capture() as capture:
        console.print(table(standings, 1234.0, None))
    text = capture.get()
    assert WIDTH == 80
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "…" not in text
    for expected in ("100.0", "1000000", "1200000", "1028806.5", "-∞ to "):
        assert expected in text, text


@pytest.mark.parametrize(
    ("verdict", "elo0", "elo1", "sentence"),
    [
        ("elo1", 0, 20, "Accepted: a is stronger than b."),
        ("elo1", 5, 20, "Accepted: a is stronger than b by more than 5 Elo."),
        ("elo1", -100, 0, "Accepted: a is not weaker than b by 100 Elo or more."),
        ("elo0", 0, 20, "Accepted: a is not stronger than b by 20 Elo or more."),
        ("elo0", -100, 0, "Accepted: a is weaker than b."),
        ("elo0", -100, -50, "Accepted: a is weaker than b by more than 50 Elo."),
        ("undecided", 0, 20, "Undecided after 60 matches: play more of them."),
    ],
)
def test_a_verdict_is_right_for_bounds_of_any_sign(
    verdict: Literal["elo0", "elo1", "undecided"], elo0: float, elo1: float, sentence: str
) -> None:
    line = sprt_line(SprtState(elo0, elo1, 0.0, -1.0, 1.0, verdict), ("a", "b"), 60)
    assert line.splitlines()[-1] == sentence


@pytest.mark.parametrize(("end", "verdict"), [(None, None), ("matches", "undecided"), ("interrupt", "undecided")])
def test_a_test_that_ends_without_a_verdict_is_undecided(end: End | None, verdict: str | None) -> None:
    standings = Standings(DUEL, Sprt(0, 5))
    standings.add(deal(0, (1, 2), (2, 1)))
    state = standings.sprt(end)
    assert state is not None
    assert state.verdict == verdict


@pytest.mark.parametrize("ranks", [(1, 2), (2, 1)])
def test_a_line_of_0_or_100_per_cent_is_apart_from_the_frame(ranks: tuple[int, int]) -> None:
    standings = Standings(DUEL)
    for number in range(40):
        standings.add(deal(number, ranks, ranks))
    drawn = ET.fromstring(plot(standings))
    (frame,) = [shape for shape in drawn.iter(f"{SVG}rect") if shape.get("class") == "frame"]
    top, height = float(frame.attrib["y"]), float(frame.attrib["height"])
    (line,) = drawn.findall(f"{SVG}polyline")
    heights = [float(point.split(",")[1]) for point in line.attrib["points"].split()]
    assert all(top + 4 < y < top + height - 4 for y in heights)


def test_the_table_shows_names_as_they_are() -> None:
    standings = Standings(Contest("toy", ("[red]a:b", "[/]:smile:"), {}, "00", 100))
    standings.add(deal(0, (1, 2), (1, 2)))
    console = Console(width=160)
    with console.capture() as capture:
        console.print(table(standings, 2.0, 1))
    assert {"[red]a:b", "[/]:smile:"} <= set(capture.get().split())

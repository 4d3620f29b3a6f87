"""The standings as two tables for a terminal of 80 columns or more: how strong each bot is, and how it behaves."""

from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from service.arena.standings import Elo, End, Row, SprtState, Standings

WIDTH: Final = 80
"""The columns of a terminal that are enough for the tables, and their width where the output is no terminal."""
FIRST_BOUNDS: Final = 5
"""Deals from which on intervals are shown; before, they say nothing."""


def table(standings: Standings, seconds: float, limit: int | None, end: End | None = None) -> RenderableType:
    """The standings after so many seconds of play. `limit` is the number of deals to play, None if there is none.

    end: what ended the run; None while it goes on.
    """
    rows = standings.rows()
    bounds = standings.deals >= FIRST_BOUNDS
    strength = _empty("score %", "95 %", "Elo", "95 %", "won", "drawn", "lost")
    behaviour = _empty("mean points", "ms p50", "ms p99", "failed")
    for row in rows:
        strength.add_row(Text(row.bot), *_strength(row, bounds=bounds))
        behaviour.add_row(Text(row.bot), *_behaviour(row))
    parts: list[RenderableType] = [strength, behaviour, _progress(standings, seconds, limit)]
    if (test := standings.sprt(end)) is not None:
        parts.append(Text(sprt_line(test, standings.contest.contestants, standings.matches)))
    parts += [Text(_failures(row), style="red") for row in rows if row.failures]
    return Group(*parts)


def _empty(*heads: str) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    shown.add_column("bot", overflow="fold", min_width=8)
    for head in heads:
        shown.add_column(head, justify="right", no_wrap=True)
    return shown


def _strength(row: Row, *, bounds: bool) -> tuple[str, ...]:
    low, high = row.interval
    return (
        f"{100 * row.score:.1f}",
        f"{100 * low:.1f}–{100 * high:.1f}" if bounds else "–",
        _elo(row.elo),
        f"{_elo(row.elo_interval[0])} to {_elo(row.elo_interval[1])}" if bounds else "–",
        f"{row.won}",
        f"{row.drawn}",
        f"{row.lost}",
    )


def _behaviour(row: Row) -> tuple[str, ...]:
    return (
        f"{row.points:.1f}",
        "–" if row.ms_p50 is None else f"{row.ms_p50:.2f}",
        "–" if row.ms_p99 is None else f"{row.ms_p99:.2f}",
        f"{sum(row.failures.values())}",
    )


def _failures(row: Row) -> str:
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(row.failures.items()))
    times = sum(row.failures.values())
    return (
        f"{row.bot} failed in {times} match{'' if times == 1 else 'es'}, which default actions played to the end for it. "
        f"By kind: {kinds}; the first: {row.first_failure}"
    )


def _elo(value: Elo) -> str:
    if isinstance(value, str):
        return "∞" if value == "Infinity" else "-∞"
    return f"{round(value):+d}"


def _progress(standings: Standings, seconds: float, limit: int | None) -> RenderableType:
    seats = len(standings.contest.bots)
    total = "" if limit is None else f" of {limit * seats:,}"
    rate = f"{standings.matches / seconds:,.1f} a second" if seconds > 0 and standings.matches else "–"
    text = f"{standings.matches:,}{total} matches, {standings.deals:,} deals, {seconds:,.0f} s, {rate}"
    lines = Table.grid()
    lines.add_row(ProgressBar(total=1, completed=_share(standings, limit), width=30))
    lines.add_row(text)
    return lines


def _share(standings: Standings, limit: int | None) -> float:
    """How far the run is: by the number of deals, or by the bound of the test that is nearer."""
    played = 0.0 if not limit else standings.deals / limit
    test = standings.sprt()
    if test is None:
        return min(1.0, played)
    return min(1.0, max(played, test.llr / (test.upper if test.llr > 0 else test.lower)))


def sprt_line(test: SprtState, bots: tuple[str, ...], matches: int) -> str:
    """The state of a sequential test of two bots in words."""
    line = f"SPRT of Elo {test.elo0:g} against {test.elo1:g}: LLR {test.llr:.2f} ({test.lower:.2f}, {test.upper:.2f})."
    match test.verdict:
        case "elo1":
            return f"{line}\nAccepted: {_more_than(test.elo0, *bots)}"
        case "elo0":
            return f"{line}\nAccepted: {_less_than(test.elo1, *bots)}"
        case "undecided":
            return f"{line}\nUndecided after {matches:,} matches: play more of them."
    return line


def _more_than(elo: float, first: str, second: str) -> str:
    """That the first bot minus the second is more than this Elo difference."""
    if elo == 0:
        return f"{first} is stronger than {second}."
    if elo > 0:
        return f"{first} is stronger than {second} by more than {elo:g} Elo."
    return f"{first} is not weaker than {second} by {-elo:g} Elo or more."


def _less_than(elo: float, first: str, second: str) -> str:
    """That the first bot minus the second is less than this Elo difference."""
    if elo == 0:
        return f"{first} is weaker than {second}."
    if elo < 0:
        return f"{first} is weaker than {second} by more than {-elo:g} Elo."
    return f"{first} is not stronger than {second} by {elo:g} Elo or more."

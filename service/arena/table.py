"""The standings as a table for a terminal of 80 columns or more."""

from rich import box
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from service.arena.standings import Row, SprtState, Standings

FIRST_BOUNDS = 5
"""Deals from which on intervals are shown; before, they say nothing."""


def table(standings: Standings, seconds: float, limit: int | None) -> RenderableType:
    """The standings after so many seconds of play. `limit` is the number of deals to play, None if there is none."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    shown.add_column("bot", overflow="fold", min_width=8)
    for head in ("score", "95 %", "Elo", "95 %", "points", "ms p50", "p99", "failed"):
        shown.add_column(head, justify="right", no_wrap=True)
    rows = standings.rows()
    for row in rows:
        shown.add_row(*_cells(row, bounds=standings.deals >= FIRST_BOUNDS))
    parts: list[RenderableType] = [shown, _progress(standings, seconds, limit)]
    if (test := standings.sprt()) is not None:
        parts.append(Text(_sprt_line(test, standings.contest.contestants)))
    parts += [Text(_failures(row), style="red") for row in rows if row.failures]
    return Group(*parts)


def _cells(row: Row, *, bounds: bool) -> tuple[str, ...]:
    low, high = row.interval
    return (
        row.bot,
        f"{100 * row.score:.1f}",
        f"{100 * low:.1f}–{100 * high:.1f}" if bounds else "–",
        _elo(row.elo, row.score),
        f"{_elo(row.elo_interval[0], low)} to {_elo(row.elo_interval[1], high)}" if bounds else "–",
        f"{row.points:.1f}",
        "–" if row.ms_p50 is None else f"{row.ms_p50:.2f}",
        "–" if row.ms_p99 is None else f"{row.ms_p99:.2f}",
        f"{sum(row.failures.values())}",
    )


def _failures(row: Row) -> str:
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(row.failures.items()))
    return f"{row.bot}: {kinds}; the first: {row.first_failure}"


def _elo(value: float | None, score: float) -> str:
    if value is None:
        return "∞" if score > 0.5 else "-∞"
    return f"{round(value):+d}"


def _progress(standings: Standings, seconds: float, limit: int | None) -> RenderableType:
    seats = len(standings.contest.bots)
    total = "" if limit is None else f" of {limit * seats:,}"
    rate = f"{standings.matches / seconds:,.1f} a second" if seconds > 0 and standings.matches else "–"
    text = f"{standings.matches:,}{total} matches, {standings.deals:,} deals, {seconds:,.0f} s, {rate}"
    line = Table.grid(padding=(0, 1))
    line.add_row(ProgressBar(total=1, completed=_share(standings, limit), width=30), text)
    return line


def _share(standings: Standings, limit: int | None) -> float:
    """How far the run is: by the number of deals, or by the bound of the test that is nearer."""
    played = 0.0 if not limit else standings.deals / limit
    test = standings.sprt()
    if test is None:
        return min(1.0, played)
    return min(1.0, max(played, test.llr / (test.upper if test.llr > 0 else test.lower)))


def _sprt_line(test: SprtState, bots: tuple[str, ...]) -> str:
    line = f"SPRT of Elo {test.elo0:g} against {test.elo1:g}: LLR {test.llr:.2f} ({test.lower:.2f}, {test.upper:.2f})"
    match test.verdict:
        case "elo1":
            return f"{line}. Accepted: {bots[0]} is stronger than {bots[1]} by {test.elo1:g} Elo or more."
        case "elo0":
            return f"{line}. Accepted: {bots[0]} is stronger than {bots[1]} by {test.elo0:g} Elo or less."
    return line

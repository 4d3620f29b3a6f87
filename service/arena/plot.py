"""The plot of a contest as SVG: the score of each bot with its 95 % interval, over the matches. Light and dark."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import floor, log10
from typing import Final

from service.arena.standings import Point, Standings

WIDTH: Final = 800
HEIGHT: Final = 420
_LEFT: Final = 56
_RIGHT: Final = 24
_TOP: Final = 56
_BOTTOM: Final = 48
_INSET: Final = 8
"""Between the frame and the lowest and highest score, so that a line of 0 or 100 % is not hidden in the frame."""
_COLOURS: Final = ("#2563eb", "#d97706", "#059669", "#c026d3", "#dc2626", "#0891b2", "#65a30d", "#7c3aed")
_DASHES: Final = ("", "8 4", "2 3", "12 4 2 4", "5 5", "1 4", "10 2", "3 1")
"""A line's dashes also tell it from the others, for those who do not see the colours."""
_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#1f2937}.title{font-size:15px;font-weight:600}"
    ".paper{fill:#ffffff}.frame{fill:none;stroke:#e5e7eb}.grid{stroke:#e5e7eb}.even{stroke:#6b7280;stroke-dasharray:4 4}"
    "@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.paper{fill:#111827}.frame{stroke:#374151}.grid{stroke:#374151}.even{stroke:#9ca3af}}"
)


def plot(standings: Standings) -> str:
    """The SVG document. Of two bots only the first is drawn, because the other mirrors it."""
    curves = standings.curves()
    shown = [point for curve in curves.values() for point in curve]
    # The first intervals are wide; the scale follows what is left of them after the first tenth.
    late = [point for point in shown if point.matches * 10 >= standings.matches] or shown
    low = max(0.0, floor(10 * min(0.5, *(point.interval.low for point in late))) / 10)
    high = min(1.0, -floor(-10 * max(0.5, *(point.interval.high for point in late))) / 10)
    scale = _Scale(max(standings.matches, 1), low, high)
    parts = [*_frame(scale, _title(standings)), *_lines(scale, curves)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">'
        f"<title>{escape(_title(standings))}</title><style>{_STYLE}</style>{''.join(parts)}</svg>\n"
    )


def _title(standings: Standings) -> str:
    names = standings.contest.contestants
    who = f"Score of {names[0]} against {names[1]}" if len(names) == 2 else "Score against the others"
    return f"{who}, {standings.contest.game}, {standings.matches:,} matches"


class _Scale:
    def __init__(self, matches: int, low: float, high: float) -> None:
        self.matches, self.low, self.high = matches, low, high

    def x(self, matches: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * matches / self.matches

    def y(self, score: float) -> float:
        share = (min(max(score, self.low), self.high) - self.low) / (self.high - self.low)
        return HEIGHT - _BOTTOM - _INSET - (HEIGHT - _TOP - _BOTTOM - 2 * _INSET) * share


def _frame(scale: _Scale, title: str) -> Iterator[str]:
    yield f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/><text class="title" x="{_LEFT}" y="26">{escape(title)}</text>'
    yield f'<rect class="frame" x="{_LEFT}" y="{_TOP}" width="{WIDTH - _LEFT - _RIGHT}" height="{HEIGHT - _TOP - _BOTTOM}"/>'
    for tenth in range(round(10 * scale.low), round(10 * scale.high) + 1):
        y = scale.y(tenth / 10)
        kind = "even" if tenth == 5 else "grid"
        yield f'<line class="{kind}" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10 * tenth} %</text>'
    for matches in _ticks(scale.matches):
        x, bottom = scale.x(matches), HEIGHT - _BOTTOM
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 6}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 22}" text-anchor="middle">{matches:,}</text>'
    yield f'<text x="{WIDTH - _RIGHT}" y="{HEIGHT - 8}" text-anchor="end">matches; the band is the 95 % interval</text>'


def _ticks(matches: int) -> Sequence[int]:
    """About five round numbers up to the number of matches."""
    rough = matches / 5
    power = 10 ** max(0, floor(log10(rough))) if rough >= 1 else 1
    step = next(int(power * factor) for factor in (1, 2, 5, 10) if power * factor >= rough)
    return range(0, matches + 1, step)


def _lines(scale: _Scale, curves: Mapping[str, Sequence[Point]]) -> Iterator[str]:
    for number, (name, curve) in enumerate(curves.items()):
        colour, dashes = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
        upper = [f"{scale.x(one.matches):.1f},{scale.y(one.interval.high):.1f}" for one in curve]
        lower = [f"{scale.x(one.matches):.1f},{scale.y(one.interval.low):.1f}" for one in reversed(curve)]
        yield f'<polygon points="{" ".join(upper + lower)}" fill="{colour}" fill-opacity="0.15"/>'
        line = " ".join(f"{scale.x(one.matches):.1f},{scale.y(one.score):.1f}" for one in curve)
        pattern = f' stroke-dasharray="{dashes}"' if dashes else ""
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="3"{pattern}/>'
        if len(curves) > 1:
            x = _LEFT + number * (WIDTH - _LEFT - _RIGHT) / len(curves)
            yield f'<line x1="{x:.1f}" x2="{x + 24:.1f}" y1="42" y2="42" stroke="{colour}" stroke-width="2"{pattern}/>'
            yield f'<text x="{x + 30:.1f}" y="46">{escape(name)}</text>'

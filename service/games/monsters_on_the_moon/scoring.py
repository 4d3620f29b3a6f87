"""The final scoring (MON-40, MON-41, MON-66), and that of a single player (MON-81)."""

from service.games.kit.ranking import outcome
from service.games.monsters_on_the_moon import missions, solo
from service.games.monsters_on_the_moon.groups import count
from service.games.monsters_on_the_moon.state import State, enclosed_cells, walled_edges
from service.games.protocol import Outcome, Rng
from service.games.visibility import Seat, Viewer

EXTRA_A_HEAD = 2
"""Additional points for each head of a seat's largest group, in matches without walls (MON-40, MON-66)."""


def points(state: State, viewer: Viewer) -> tuple[int, ...]:
    """The score of each seat if the match ended now. A mission counts only for viewers who may know it."""
    if len(state.seats) == 1:
        return (sum(solo.parts(state.display).values()),)
    found = []
    for seat in range(len(state.seats)):
        parts = _parts(state, seat)
        is_known = viewer == seat or state.step is None
        found.append(sum(parts.values()) - (0 if is_known else parts["mission"]))
    return tuple(found)


def score(state: State, _rng: Rng) -> Outcome:
    """The outcome of a match that is over. It makes no draw."""
    if len(state.seats) == 1:
        return outcome([dict(solo.parts(state.display))], [()])
    # MON-41
    tie_breaks = [(held.crystals,) for held in state.seats]
    return outcome([_parts(state, seat) for seat in range(len(state.seats))], tie_breaks)


def _parts(state: State, seat: Seat) -> dict[str, int]:
    held = state.seats[seat]
    walled = walled_edges(state)
    found = count(state.display, held.monster, walled, enclosed_cells(state))
    extra = 0 if state.options.walls else EXTRA_A_HEAD
    monsters = [other.monster for other in state.seats]
    return {
        "interim_singles": held.interim_singles,
        "interim_groups": held.interim_groups,
        "singles": found.singles + found.enclosed_singles,
        "groups": found.groups + found.enclosed_groups,
        "largest_group": extra * found.largest,
        "crystals": held.crystals,
        "mission": 0 if held.mission is None else missions.points(state.display, monsters, seat, held.mission, walled),
    }

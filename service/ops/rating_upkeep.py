"""Checks and rebuilds the ratings of a store."""

from collections.abc import Callable
from contextlib import suppress

from service.audit.ratings import Checked, faults
from service.automation import rating
from service.errors import Corrupt, Refused
from service.repository.ports import Ports

Report = Callable[[str], object]


def rebuild_ratings(ports: Ports, report: Report, *, brief: bool = False) -> bool:
    """Rebuild the leaderboards from the rating streams. Returns whether no stream has a fault.

    `brief`: report nothing about a store without rated matches.
    """
    rebuilt, whole = 0, True
    for game in ports.games:
        try:
            rebuilt += rating.rebuild(ports, game)
        except (Corrupt, Refused) as error:
            report(f"the ratings of {game}: {error.detail if isinstance(error, Refused) else error}")
            whole = False
    if rebuilt or not brief:
        report(f"folded {rebuilt} rated matches into the leaderboards")
    return whole


def check_ratings(ports: Ports, report: Report, *, brief: bool = False) -> bool:
    """Recompute every entry of the rating streams, and compare the leaderboards with them. Returns whether there is no fault.

    Entries that the leaderboards lack are folded into them first; they lack some if a rebuild was interrupted.
    `brief`: report nothing about a store without rated matches.
    """
    found, checked = 0, Checked()
    for game in ports.games:
        with suppress(Corrupt, Refused):  # the check reports it
            rating.catch_up(ports, game)
        for fault in faults(ports, game, checked):
            found += 1
            report(f"the ratings of {game}: {fault}")
    waiting = f", {checked.waiting} matches wait for their rating" if checked.waiting else ""
    if found or checked != Checked() or not brief:
        report(f"checked {checked.entries} rated matches and {checked.players} ratings{waiting}: {found} faults")
    return not found

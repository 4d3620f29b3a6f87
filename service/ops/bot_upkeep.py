"""The operator's side of hosted bots: what a check reads, and what it corrects."""

from collections.abc import Callable

import msgspec

from service.repository.ports import Ports

Report = Callable[[str], object]


def check_bots(ports: Ports, report: Report) -> bool:
    """Whether all hosted bots can be read and belong to their owners. They are added again to the public list, or removed from it."""
    bots = faults = owners = 0
    for owner in sorted(ports.bots.owners()):
        ids = ports.bots.of(owner)
        owners += 1
        try:
            found = ports.bots.find(ids)
        except (msgspec.DecodeError, UnicodeDecodeError):
            faults += 1
            report(f"a hosted bot of the player {owner} cannot be read")
            continue
        bots += len(found)
        for bot in found.values():
            if bot.owner != owner:
                faults += 1
                report(f"the hosted bot {bot.id} of the player {owner} names {bot.owner} as its owner")
            else:
                ports.bots.change(bot.id, lambda one: one)
    if owners:
        report(f"checked {bots} hosted bots of {owners} players: {faults} faults")
    return not faults

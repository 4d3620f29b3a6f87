"""The operator's side of webhooks: what a check reads, and what follows after a restore."""

from collections.abc import Callable

import msgspec

from service.repository.ports import Ports

Report = Callable[[str], object]


def check_webhooks(ports: Ports, report: Report) -> bool:
    """Whether all webhooks and deliveries can be read. Their due times are written again, so that nothing waits for ever."""
    players = sorted(ports.webhooks.subscribers())
    webhooks = deliveries = faults = 0
    for player in players:
        try:
            webhooks += len(ports.webhooks.of((player,)).get(player, ()))
            deliveries += len(ports.webhooks.deliveries(player))
        except (msgspec.DecodeError, UnicodeDecodeError):
            faults += 1
            report(f"a webhook or a delivery of the player {player} cannot be read")
        else:
            ports.webhooks.watch_player(player, ports.now())
    if players:
        report(f"checked {webhooks} webhooks of {len(players)} players with {deliveries} deliveries: {faults} faults")
    return not faults

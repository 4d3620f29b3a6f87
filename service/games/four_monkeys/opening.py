"""Sets up the table before the first round (FOU-24, FOU-32)."""

from service.games.four_monkeys.apply import apply
from service.games.four_monkeys.components import BOX
from service.games.four_monkeys.dealing import in_two_areas, open_round
from service.games.four_monkeys.effects import AnyEffect, TableSet
from service.games.four_monkeys.state import Options
from service.games.kit.pending import PendingEffects
from service.games.protocol import Rng


def setup(seats: int, options: Options, at: int, rng: Rng) -> tuple[AnyEffect, ...]:
    """The effects that set up the table and deal the first round. `seating` is drawn first."""
    seating = rng.shuffle("seating", tuple(range(seats)))
    table = TableSet(
        seating=seating,
        rounds=BOX.rounds_in_two_areas if in_two_areas(seating) else BOX.rounds,
        banana_skins=options.banana_skins,
        family=options.family,
        round_seconds=options.round_seconds,
        timer_visible=options.timer_visible,
        countdown_seconds=options.countdown_seconds,
    )
    pending = PendingEffects(apply, apply(None, table))
    open_round(pending, 1, at, rng)
    return (table, *pending.effects)

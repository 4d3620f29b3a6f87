"""Observations of the toy game, and sampled states that agree with them."""

import msgspec

from service.games.protocol import Rng
from service.games.visibility import Viewer
from tests.service.games.toy.state import CARDS, VALUES, Card, Options, State, Step


class Observation(msgspec.Struct, frozen=True, tag_field="game", tag="toy"):
    """`hand`, `lucky` and `committed` are the viewer's own. `deadline` is None if options hide it."""

    viewer: Viewer
    options: Options
    trick: int
    step: Step
    opens_at: int
    deadline: int | None
    deck: int
    discards: int
    table: tuple[Card | None, ...]
    hands: tuple[int, ...]
    hand: tuple[Card, ...]
    lucky: int | None
    committed: Card | None
    waiting: tuple[bool, ...]
    swapped: tuple[int, ...]
    points: tuple[int, ...]
    missed: tuple[int, ...]


def observation(state: State, viewer: Viewer) -> Observation:
    return Observation(
        viewer=viewer,
        options=state.options,
        trick=state.trick,
        step=state.step,
        opens_at=state.opens_at,
        deadline=state.deadline if state.options.timer_visible and state.step == "commit" else None,
        deck=len(state.deck),
        discards=len(state.discards),
        table=state.table,
        hands=tuple(len(hand) for hand in state.hands),
        hand=() if viewer is None else state.hands[viewer],
        lucky=None if viewer is None else state.lucky[viewer],
        committed=None if viewer is None else state.commits[viewer],
        waiting=state.waiting,
        swapped=state.swapped,
        points=state.points,
        missed=state.missed,
    )


def sample_state(seen: Observation, rng: Rng) -> State:
    known = {*seen.hand, *seen.table, seen.committed}
    unknown = rng.shuffle("unknown", [card for card in CARDS if card not in known])

    values = iter(rng.shuffle("values", [value for value in VALUES if value != seen.lucky]))

    def take(count: int) -> tuple[Card, ...]:
        nonlocal unknown
        taken, unknown = unknown[:count], unknown[count:]
        return taken

    hands = tuple(seen.hand if seat == seen.viewer else take(size) for seat, size in enumerate(seen.hands))
    commits: list[Card | None] = []
    for seat, waits in enumerate(seen.waiting):
        hidden = seen.step == "commit" and not waits and seat != seen.viewer
        commits.append(take(1)[0] if hidden else seen.committed if seat == seen.viewer else None)
    return State(
        options=seen.options,
        trick=seen.trick,
        step=seen.step,
        opens_at=seen.opens_at,
        deadline=seen.opens_at + seen.options.trick_ms,
        lucky=tuple(seen.lucky if seat == seen.viewer and seen.lucky else next(values) for seat in range(len(hands))),
        deck=take(seen.deck),
        discards=take(seen.discards),
        table=seen.table,
        hands=hands,
        commits=tuple(commits),
        waiting=seen.waiting,
        swapped=seen.swapped,
        points=seen.points,
        missed=seen.missed,
    )

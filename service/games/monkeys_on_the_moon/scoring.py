"""The final scoring: ranks of the tribes, titles, ships and Scorn (MOM-41 to MOM-46, MOM-50)."""

from collections import Counter
from collections.abc import Sequence

from service.games.kit.ranking import outcome
from service.games.monkeys_on_the_moon.components import BOX, TRIBE_INDEX, TRIBES, Award, CardId, Tribe
from service.games.monkeys_on_the_moon.state import State
from service.games.protocol import Outcome, Rng
from service.games.visibility import Seat, Viewer


def points(state: State, _viewer: Viewer) -> tuple[int, ...]:
    """The score of each seat if the match ended now.

    A tribe whose rank depends on the draw of ties counts for no seat.
    """
    reached = Counter(space for tribe, space in zip(TRIBES, state.spaces, strict=True) if tribe not in state.finished)
    ranked = [
        tribe if tribe in state.finished or reached[state.spaces[TRIBE_INDEX[tribe]]] == 1 else None
        for tribe in rank_tribes(state, TRIBES)
    ]
    return tuple([sum(parts.values()) for parts in _breakdown(state, ranked)])


def score(state: State, rng: Rng) -> Outcome:
    """The outcome of a match that is over. It always draws `finish_ties`, even if no tribes are tied."""
    ranked = rank_tribes(state, rng.shuffle("finish_ties", TRIBES))
    piles = [score_pile(state, seat) for seat in range(len(state.seats))]
    # MOM-46
    tie_breaks = [(len(pile), status_points(pile).total()) for pile in piles]
    return outcome(_breakdown(state, ranked), tie_breaks)


def _breakdown(state: State, ranked: Sequence[Tribe | None]) -> list[dict[str, int]]:
    """The breakdown of each seat's score. A rank without a tribe awards nothing."""
    status = [status_points(score_pile(state, seat)) for seat in range(len(state.seats))]
    titles = [0] * len(status)
    for tribe, award in zip(ranked, BOX.awards, strict=True):
        if tribe is not None:
            for seat, earned in enumerate(titles_of(award, [counts[tribe] for counts in status])):
                titles[seat] += earned
    return [
        {
            "titles": titles[seat],
            "ships": sum(BOX.ships[ship].points for ship in held.full_ships),
            "scorn": BOX.scorn_penalty * state.scorn.count(seat),
        }
        for seat, held in enumerate(state.seats)
    ]


def score_pile(state: State, seat: Seat) -> tuple[CardId, ...]:
    """The launched monkeys that count. With `maximum_scorn`, tribes whose Scorn the seat holds do not (MOM-50)."""
    launched = state.seats[seat].launched
    if not state.options.maximum_scorn:
        return launched
    return tuple([card for card in launched if state.scorn[TRIBE_INDEX[BOX.monkeys[card].tribe]] != seat])


def status_points(pile: tuple[CardId, ...]) -> Counter[Tribe]:
    found: Counter[Tribe] = Counter()
    for card in pile:
        found[BOX.monkeys[card].tribe] += BOX.monkeys[card].status
    return found


def rank_tribes(state: State, ties: tuple[Tribe, ...]) -> tuple[Tribe, ...]:
    """The tribes from the best rank: by Finish Circle, then by space, then by the draw (MOM-41)."""
    others = [tribe for tribe in ties if tribe not in state.finished]
    return (*state.finished, *sorted(others, key=lambda tribe: -state.spaces[TRIBE_INDEX[tribe]]))


def titles_of(award: Award, status: list[int]) -> list[int]:
    """The points that each seat earns for one tribe, from the seats' Status Points of it (MOM-42 to MOM-44)."""
    best = max(status)
    leaders = status.count(best)
    if len(status) == 2:
        return [award.leader if points == best and leaders == 1 else 0 for points in status]
    if leaders > 1:
        share = (award.leader + award.undersecretary) // leaders
        return [share if points == best else 0 for points in status]
    second = max(points for points in status if points < best)
    share = award.undersecretary // status.count(second)
    return [award.leader if points == best else share if points == second else 0 for points in status]

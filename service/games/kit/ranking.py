"""Ranks, winners and ties are computed in the same way for every game."""

from collections.abc import Sequence

from service.games.protocol import Outcome


def outcome(breakdown: Sequence[dict[str, int]], tie_breaks: Sequence[tuple[int, ...]]) -> Outcome:
    """The outcome of a match, where the score of a seat is the sum of its breakdown.

    Equal scores are ordered by the tie-breaks, the highest first. Seats that are equal in all of them share a rank.
    """
    scores = tuple(sum(parts.values()) for parts in breakdown)
    keys = [(score, *breaks) for score, breaks in zip(scores, tie_breaks, strict=True)]
    ranks = tuple(1 + sum(other > key for other in keys) for key in keys)
    winners = tuple(seat for seat, rank in enumerate(ranks) if rank == 1)
    return Outcome(scores, ranks, winners, tuple(breakdown))

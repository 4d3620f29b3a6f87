"""Bots that can play any seat: `random` for every game, and the bots of the game's own folder."""

from collections.abc import Mapping
from typing import Any, Final

from service.games.kit.patterns import sample_action
from service.games.protocol import AnyGame, Bot, Rng, Task

RANDOM: Final = "random"


def choose_at_random(task: Task[Any, Any], rng: Rng) -> Any:
    """Choose a legal action uniformly at random, and resolve its patterns at random."""
    return sample_action(rng.pick("action", task.legal_actions), "part", rng)


def bots_of(game: AnyGame) -> Mapping[str, Bot[Any, Any]]:
    return {RANDOM: choose_at_random, **game.bots}


def stand_in(game: AnyGame) -> str:
    """The bot that takes over a seat after a timeout: the first bot of the game's own, or `random` if it has none."""
    return next(iter(game.bots), RANDOM)

"""The bots that anyone may seat: `random` for every game, and those that a game's own folder brings."""

from collections.abc import Mapping
from typing import Any, Final

from service.games.kit.patterns import sample_action
from service.games.protocol import AnyGame, Bot, Rng, Task

RANDOM: Final = "random"


def choose_at_random(task: Task[Any, Any], rng: Rng) -> Any:
    """Any entry of the legal list, each as likely as the others, and any choice that it stands for."""
    return sample_action(rng.pick("action", task.legal_actions), "part", rng)


def bots_of(game: AnyGame) -> Mapping[str, Bot[Any, Any]]:
    return {RANDOM: choose_at_random, **game.bots}


def stand_in(game: AnyGame) -> str:
    """The bot that takes over a seat whose time ran out: the game's own first one, if it brings any."""
    return next(iter(game.bots), RANDOM)

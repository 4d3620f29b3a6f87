"""How a game decides: tell one effect after the other, each on the state that the ones before it left."""

from collections.abc import Callable
from typing import Generic, TypeVar

S = TypeVar("S")
E = TypeVar("E")


class PendingEffects(Generic[S, E]):
    """The effects told so far, and the state after them."""

    __slots__ = ("_apply", "effects", "state")

    def __init__(self, apply: Callable[[S | None, E], S], state: S) -> None:
        self._apply = apply
        self.state = state
        self.effects: list[E] = []

    def emit(self, *effects: E) -> None:
        for effect in effects:
            self.state = self._apply(self.state, effect)
            self.effects.append(effect)

"""Collects the effects of a decision. Each effect is applied at once, so the next rule sees the state after it."""

from collections.abc import Callable
from typing import Generic, TypeVar

S = TypeVar("S")
E = TypeVar("E")


class PendingEffects(Generic[S, E]):
    """The effects emitted so far, and the state after them."""

    __slots__ = ("_apply", "effects", "state")

    def __init__(self, apply: Callable[[S | None, E], S], state: S) -> None:
        self._apply = apply
        self.state = state
        self.effects: list[E] = []

    def emit(self, *effects: E) -> None:
        for effect in effects:
            self.state = self._apply(self.state, effect)
            self.effects.append(effect)

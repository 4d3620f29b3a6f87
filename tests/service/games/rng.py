"""Draws for tests: fixed outcomes for given labels, and reproducible shuffles for all others."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

T = TypeVar("T")


class ScriptedRng:
    """A deterministic `Rng`. `outcomes` fixes results by label; `drawn` records the labels in order."""

    def __init__(self, seed: int = 0, outcomes: Mapping[str, object] | None = None) -> None:
        self._seed = seed
        self._outcomes = outcomes or {}
        self.drawn: list[str] = []

    def shuffle(self, label: str, items: Sequence[T]) -> tuple[T, ...]:
        key = self._next(label)
        if label in self._outcomes:
            return cast("tuple[T, ...]", self._outcomes[label])
        order = sorted(range(len(items)), key=lambda index: hashlib.sha256(f"{key}:{index}".encode()).digest())
        return tuple(items[index] for index in order)

    def pick(self, label: str, items: Sequence[T]) -> T:
        key = self._next(label)
        if label in self._outcomes:
            return cast("T", self._outcomes[label])
        return items[int.from_bytes(hashlib.sha256(key.encode()).digest()) % len(items)]

    def _next(self, label: str) -> str:
        self.drawn.append(label)
        return f"{self._seed}:{label}:{len(self.drawn)}"

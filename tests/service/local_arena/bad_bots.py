"""Bots that fail in every way, for the arena's processes. Each draws when it fails, so that a run can be repeated."""

import os
from typing import Any

from service.games.bots import choose_at_random
from service.games.protocol import Rng, Task

LIMIT_MS = 300


def honest(task: Task[Any, Any], rng: Rng) -> Any:
    print("a bot may print")
    return choose_at_random(task, rng)


def raises(task: Task[Any, Any], rng: Rng) -> Any:
    if rng.pick("fail", range(6)) == 0:
        raise ValueError("no idea")
    return honest(task, rng)


def ends(task: Task[Any, Any], rng: Rng) -> Any:
    if rng.pick("fail", range(6)) == 0:
        os._exit(3)
    return honest(task, rng)


def hangs(task: Task[Any, Any], rng: Rng) -> Any:
    if rng.pick("fail", range(6)) == 0:
        while True:
            pass
    return honest(task, rng)


def computes(_task: Task[Any, Any], _rng: Rng) -> Any:
    while True:
        pass


def unknown(task: Task[Any, Any], rng: Rng) -> Any:
    return {"type": "win"} if rng.pick("fail", range(6)) == 0 else honest(task, rng)


def not_json(_task: Task[Any, Any], _rng: Rng) -> Any:
    return object()


def endless(_task: Task[Any, Any], _rng: Rng) -> Any:
    return {"type": "x" * (1 << 21)}


def waits(_task: Task[Any, Any], _rng: Rng) -> Any:
    return None


no_function = 7

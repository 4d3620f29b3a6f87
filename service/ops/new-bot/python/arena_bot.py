"""The bot as a function for `moonstone arena`, which plays it without a service: name it arena_bot:play."""

import json

import msgspec
from strategy import choose


def play(task, rng):
    """Return the action for a task.

    task: has `seat`, `step`, `observation`, `legal_actions` and `match`, with the values that the API would send.
    rng: random numbers that are the same in a repeated run: rng.pick("label", items), rng.shuffle("label", items).
    """
    return choose(_plain(task.legal_actions), lambda: _plain(task.observation), task.seat, task.match)


def _plain(value):
    """The value as the API sends it."""
    return json.loads(msgspec.json.encode(value))

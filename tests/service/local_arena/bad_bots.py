"""Bots that fail in every way, for the arena's processes. Each draws when it fails, so that a run can be repeated."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import msgspec

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
    """Sleep much too long, which takes no processor time. `computes` and `holds` compute."""
    if rng.pick("fail", range(6)) == 0:
        time.sleep(3600)
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


def too_deep(_task: Task[Any, Any], _rng: Rng) -> Any:
    return msgspec.Raw(b"[" * 100_000)


def no_utf8(_task: Task[Any, Any], _rng: Rng) -> Any:
    return msgspec.Raw(b'{"type":"\xff"}')


def no_number(_task: Task[Any, Any], _rng: Rng) -> Any:
    return float("nan")


def controls(_task: Task[Any, Any], _rng: Rng) -> Any:
    raise ValueError("\x1b[2J")


def stops(_task: Task[Any, Any], _rng: Rng) -> Any:
    os.kill(os.getpid(), signal.SIGSTOP)


def holds(_task: Task[Any, Any], _rng: Rng) -> Any:
    """Compute in C: no other thread of this process runs, and no signal handler."""
    print("holds", flush=False)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return 3**1_000_000_000


def forks(_task: Task[Any, Any], _rng: Rng) -> Any:
    """Start another process that never ends, and write both process ids into the current folder."""
    child = os.fork()
    if child:
        Path("forked.part").write_text(f"{os.getpid()} {child}")
        Path("forked.part").replace("forked")
    while True:
        time.sleep(1)


def waits(_task: Task[Any, Any], _rng: Rng) -> Any:
    return None


no_function = 7

"""Ends a process of the arena after its parent has ended, however the parent ended and whatever the process computes."""

import os
import threading
import time
from collections.abc import Callable
from typing import Final

_POLL_S: Final = 1.0


def end_with_parent(end: Callable[[], None]) -> None:
    """Call `end` in another thread, about a second after the parent of this process has ended."""
    threading.Thread(target=_watch, args=(os.getppid(), end), daemon=True).start()


def _watch(parent: int, end: Callable[[], None]) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_S)
    end()

"""Ends a process of the arena after its parent has ended, however the parent ended and whatever the process computes."""

import os
import threading
import time
from collections.abc import Callable
from typing import Final

_POLL_S: Final = 1.0


def end_with_parent(parent: int, end: Callable[[], None]) -> None:
    """Call `end` in another thread within about a second after the parent has ended, even if it ended before this call.

    parent: its process id, as the parent itself gave it to this process.
    """
    threading.Thread(target=_watch, args=(parent, end), daemon=True).start()


def _watch(parent: int, end: Callable[[], None]) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_S)
    end()

"""Ends a process of the arena after its parent has ended, however the parent ended and whatever the process computes.

`python -P -m service.arena.parent PARENT COMMAND…` runs a command in this way, with the stdin and stdout that it has
itself.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

_POLL_S: Final = 1.0


def main() -> None:
    parent, *words = sys.argv[1:]
    end_with_parent(int(parent), lambda: os.killpg(0, signal.SIGKILL))  # and what the command has started
    try:
        status = subprocess.Popen(words).wait()  # noqa: S603  (the user's own program)
    except OSError as error:
        sys.exit(f"{words[0]}: {error.strerror}")
    sys.exit(status if status >= 0 else 128 - status)  # as shells report the signal that ended a command


def end_with_parent(parent: int, end: Callable[[], None]) -> None:
    """Call `end` in another thread within about a second after the parent has ended, even if it ended before this call.

    parent: its process id, as the parent itself gave it to this process.
    """
    threading.Thread(target=_watch, args=(parent, end), daemon=True).start()


def _watch(parent: int, end: Callable[[], None]) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_S)
    end()


if __name__ == "__main__":
    main()

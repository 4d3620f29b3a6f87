"""Processes that die with the thread that started them, even by a kill -9 of its process (on Linux; elsewhere they may
outlive it).
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

# Python code between fork and exec may hang in a process with threads, so a fresh interpreter asks the kernel to be killed
# with its parent and takes the lock, then becomes the child. Both outlive exec, and the child's own children inherit
# neither. A parent that died before it could ask is known by its number.
_LAUNCHER = """
import ctypes, fcntl, os, signal, sys
if sys.platform == "linux":
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the parent is gone")
if sys.argv[2]:
    lock = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())
    os.set_inheritable(lock, True)
os.execv(sys.argv[3], sys.argv[3:])
"""


def spawn(
    command: Sequence[str],
    *,
    lock: Path | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    output: IO[bytes] | None = None,
    umask: int = -1,
) -> subprocess.Popen[bytes]:
    """Start a program, by its path, that gets no signals of the terminal: its parent ends it in order.

    With `lock` it holds that file locked, its process id inside, as long as it lives; it ends at once if another process
    does. `output` takes all that it writes, else that goes where this process's goes. `umask` is this process's unless given.
    """
    return subprocess.Popen(  # noqa: S603  (the caller's choice)
        [sys.executable, "-ISc", _LAUNCHER, str(os.getpid()), str(lock or ""), *command],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=None if output is None else subprocess.STDOUT,
        env=env,
        cwd=cwd,
        umask=umask,
        start_new_session=True,
    )

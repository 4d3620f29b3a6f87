"""Child processes that are killed when the thread that started them ends, even if its process gets a kill -9. This works on
Linux; elsewhere they may outlive it.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

# In a process with threads, Python code between fork and exec may hang. So a new interpreter is started first. It asks the
# kernel to kill it with its parent, takes the lock, and then replaces itself by the child's program with exec. Both survive
# exec, and the child's own children inherit neither. If the parent died earlier, the parent's process id has changed. To import
# `signal` for one number would take a third of its time.
_LAUNCHER = """
import ctypes, fcntl, os, sys
if sys.platform == "linux":
    PR_SET_PDEATHSIG, SIGKILL = 1, 9
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
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
    """Start a program, by its path, in a session of its own, so that it gets no signals from the terminal.

    lock: a file that the child keeps locked, with its process id inside; the child exits at once if another process holds it.
    output: takes the child's stdout and stderr; by default it writes to this process's.
    umask: this process's by default.
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

"""The id of this process, asked for once: a system call takes as long as the rest of a log line."""

import os
from functools import cache


@cache
def process_id() -> int:
    return os.getpid()


if hasattr(os, "register_at_fork"):  # elsewhere than on Unix, no process forks
    os.register_at_fork(after_in_child=process_id.cache_clear)

"""Limits of request bodies. The server enforces them while it reads, and the checks enforce them before a view."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final, TypeAlias

MAX_BODY: Final = 16 * 1024
"""Maximum size of a body in bytes, without the framing of chunks."""
MAX_WAIT_FOR_BODY_S: Final = 5.0

Deadline: TypeAlias = Callable[[], AbstractContextManager[object]]
"""Creates a context in which reading a body raises werkzeug's RequestTimeout if it takes too long."""

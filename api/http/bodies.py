"""Limits of request bodies, which the server keeps while it reads and the checks keep before a view."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final, TypeAlias

MAX_BODY: Final = 16 * 1024
"""Bytes of a body, without the framing of chunks."""
MAX_WAIT_FOR_BODY_S: Final = 5.0

Deadline: TypeAlias = Callable[[], AbstractContextManager[object]]
"""Makes a context in which reading a body that is too slow raises werkzeug's RequestTimeout."""

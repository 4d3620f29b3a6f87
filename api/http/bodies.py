"""Limits of request bodies. The server enforces them while it reads, and the checks enforce them before a view."""

from typing import Final

MAX_BODY: Final = 16 * 1024
"""Maximum size of a body in bytes, without the framing of chunks."""
MAX_WAIT_FOR_BODY_S: Final = 5.0
"""Within this time a body must be received completely."""

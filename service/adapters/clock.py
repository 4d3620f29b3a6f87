"""Server time: the only place that reads the time of day."""

import time


def wall_clock() -> int:
    """Milliseconds since 1970-01-01T00:00:00Z."""
    return time.time_ns() // 1_000_000

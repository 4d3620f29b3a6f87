"""Whether a thread of a worker may do what depends on the time of day."""

import logging
from collections.abc import Callable
from typing import Final, TypeAlias

ClockFault: TypeAlias = Callable[[], str | None]
"""Says how the clock of this machine differs from that of the log's server; None if they agree."""

_log: Final = logging.getLogger("moonstone.clock")


class ClockCheck:
    """Asks for the clock's fault, and logs when it begins and when it is over.

    `duty` names what the thread does not do meanwhile, such as `deadlines are enforced`.
    """

    def __init__(self, fault: ClockFault, duty: str) -> None:
        self._fault = fault
        self._duty = duty
        self._was_off = False

    def is_off(self) -> bool:
        """Whether the clock is wrong now.

        Raises:
            LogUnavailable: the server does not answer a check that is needed at once.
        """
        fault = self._fault()
        if fault is not None and not self._was_off:
            _log.warning("no %s here: %s", self._duty, fault)
        elif fault is None and self._was_off:
            _log.info("%s here again", self._duty)
        self._was_off = fault is not None
        return self._was_off

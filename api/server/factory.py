"""Creates the app of a worker process, after the fork and gevent's monkey patching.

Modules that import redis are imported inside functions: a socket created before the patching would block the process.
"""

import atexit
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from service.adapters.uncollected import uncollected
from service.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

Factory: TypeAlias = Callable[[Callable[[], bool]], "WSGIApplication"]
"""Creates the app in a worker, from a function that returns whether the worker runs."""

_POLL_INTERVAL_S: Final = 0.2


def factory(settings: Settings) -> Factory:
    def make(alive: Callable[[], bool]) -> "WSGIApplication":
        with uncollected():
            from api.app import create_app  # noqa: PLC0415
            from api.server.startup import Waiting  # noqa: PLC0415
            from service.container import Unusable, build  # noqa: PLC0415

        def start() -> "WSGIApplication":
            service = build(settings)

            def end_streams() -> None:
                while alive():
                    time.sleep(_POLL_INTERVAL_S)
                service.feed.close()

            threading.Thread(target=end_streams, name="end-streams", daemon=True).start()
            atexit.register(service.store_uses)
            return create_app(service, alive=alive)

        try:
            return start()
        except Unusable as reason:
            return Waiting(start, reason, settings, alive)

    return make

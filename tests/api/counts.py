"""Forgets what limits have counted: what is left of them depends on how often somebody asked."""

from service.adapters.local_limits import LocalLimits
from service.adapters.shared_limits import SharedLimits
from service.repository.limits import Limits


def forget(limits: Limits) -> None:
    if isinstance(limits, LocalLimits):
        limits._full_again_at.clear()
    elif isinstance(limits, SharedLimits):
        limits._leases._accounts.clear()
        client = limits._store._client
        if keys := client.keys("limit:*"):
            client.delete(*keys)

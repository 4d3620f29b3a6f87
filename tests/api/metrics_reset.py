"""Forgets the requests of earlier tests: to read the buckets of all their routes takes longer than most requests."""

from service.observability import metrics


def forget_requests() -> None:
    metrics.REQUESTS.clear()
    metrics.requests.cache_clear()

"""One kind of problem that the API can answer with."""

import msgspec


class ProblemType(msgspec.Struct, frozen=True):
    """`retry_after` (seconds) is set if the same request, sent again unchanged, may succeed."""

    status: int
    title: str
    cause: str
    remedy: str
    retry_after: int | None = None

"""URLs that a client gives, and that the service will call."""

from typing import Any, Final

from api.http import context
from api.problems.documents import Invalid
from api.requests.strict_fields import String
from service.repository.outgoing import MAX_URL, url_fault

_LOOPBACK: Final = (
    "To try a program on the service's own machine, its operator starts it with MOONSTONE_LOOPBACK_CALLS=1."
)


class Url(String):
    """A URL with the scheme https. `check` checks the rest, which depends on a setting."""

    def __init__(self, **options: Any) -> None:
        super().__init__(MAX_URL, pattern="https?://[!-~]+", form="a URL that begins with https://", **options)


def check(url: str, field: str = "url") -> None:
    """Check that a URL may be called. Its host is not resolved: that happens at each call.

    Raises:
        Invalid: the URL is not allowed; the text says what would be.
    """
    fault = url_fault(url, loopback=context.container().settings.loopback_calls)
    if fault is not None:
        hint = "" if url_fault(url, loopback=True) else f" {_LOOPBACK}"
        raise Invalid({field: [f"{fault[0].upper()}{fault[1:]}.{hint}"]}, "json")

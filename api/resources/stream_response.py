"""Responses that stay open: each holds a slot among the streams until it ends."""

import select
import socket
from collections.abc import Callable, Generator, Sequence
from functools import partial
from itertools import chain
from typing import Final, cast

from flask import Response, current_app, request
from gevent.monkey import get_original

from api.http import context
from service.errors import Refused
from service.subscriptions.frames import EVENT_STREAM, NDJSON, Form
from service.subscriptions.streams import HungUp, Slot, Streams
from service.usecases import accounts

STREAMS: Final = "moonstone.streams"
"""The key of the app's open streams in `app.extensions`."""

_FORMS: Final = {form.media_type: form for form in (EVENT_STREAM, NDJSON)}
"""The first form is the default for a client without an Accept header."""

_poll: Final = get_original("select", "poll")
"""gevent's own `poll` would make an object for each connection."""

_ESTABLISHED: Final = 1
"""The TCP state ESTABLISHED in Linux, the first byte of TCP_INFO."""


def streams() -> Streams:
    found = current_app.extensions.get(STREAMS)
    if found is None:
        container = context.container()
        ports, alive = container.ports, context.state().alive
        made = Streams(ports.history, ports.limits, container.feed, alive, _have_hung_up)
        found = current_app.extensions.setdefault(STREAMS, made)
    return cast("Streams", found)


def holder() -> str:
    """The key by which streams are limited: the player, or the address of a client without a token."""
    return context.caller_id() or f"address {context.address()}"


def authorize() -> Callable[[], object]:
    """A function that raises Refused when the caller's token is no longer valid."""
    credential = context.credential()
    return _nobody if credential is None else partial(accounts.holder, context.ports(), credential)


def hung_up() -> HungUp:
    """A function that returns whether the client closed its connection.

    A failing write would show this only later, and until then the stream would hold its slot.
    """
    return _Check(request.environ.get("gunicorn.socket"))


def wanted_form() -> Form:
    """The stream that `Accept` asks for, where the operation answers nothing else.

    Raises:
        Refused: `not-acceptable`.
    """
    accepted = request.accept_mimetypes
    wanted = accepted.best_match(tuple(_FORMS)) if accepted else EVENT_STREAM.media_type
    if wanted is None:
        raise Refused("not-acceptable", f"The stream is {' or '.join(_FORMS)}.")
    return _FORMS[wanted]


def respond(frames: Generator[bytes], form: Form, slot: Slot) -> Response:
    """A streamed response that holds a slot until it is closed, and uses up the ticket of the request.

    An exception in its first frame becomes the response.

    Raises:
        Refused: `ticket-invalid`: another stream has used the ticket meanwhile.
    """
    try:
        first = next(frames)
        _use_ticket()
    except BaseException:
        frames.close()
        slot.release()
        raise
    response = Response(chain([first], frames), headers={"X-Accel-Buffering": "no"}, content_type=form.media_type)
    response.call_on_close(frames.close)
    response.call_on_close(slot.release)
    return response


def _use_ticket() -> None:
    if context.state().ticket_of is not None and request.method != "HEAD":
        accounts.redeem_ticket(context.ports(), request.args["ticket"])


def _nobody() -> None:
    pass


class _Check:
    """Whether the client of a connection closed it; False without a connection, and for one that is not of TCP."""

    __slots__ = ("_client", "file")

    def __init__(self, client: socket.socket | None) -> None:
        if client is not None and client.family not in {socket.AF_INET, socket.AF_INET6}:
            client = None
        self._client = client
        self.file = None if client is None else client.fileno()

    def __call__(self) -> bool:
        if self._client is None:
            return False
        return self._client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _ESTABLISHED


def _have_hung_up(checks: Sequence[HungUp]) -> Sequence[bool]:
    """The results of many checks, from one system call."""
    poll = _poll()
    files = [check.file if isinstance(check, _Check) else None for check in checks]
    for file in files:
        if file is not None:
            poll.register(file, select.POLLRDHUP)
    closed = {file for file, _ in poll.poll(0)}
    return [file in closed for file in files]

"""What a request that stays open needs: a slot among the streams of its process, and to know when to give it up."""

import socket
from collections.abc import Callable, Generator
from functools import partial
from itertools import chain
from typing import Final, cast

from flask import Response, current_app, request

from api.http import context
from service.errors import Refused
from service.subscriptions.frames import EVENT_STREAM, NDJSON, Form
from service.subscriptions.streams import Slot, Streams
from service.usecases import accounts

STREAMS: Final = "moonstone.streams"
"""Where the app keeps its open streams."""

_FORMS: Final = {form.media_type: form for form in (EVENT_STREAM, NDJSON)}
"""The first is that of a client that names none."""

_ESTABLISHED: Final = 1
"""Of the TCP states as Linux numbers them; it is the first byte of TCP_INFO."""


def streams() -> Streams:
    found = current_app.extensions.get(STREAMS)
    if found is None:
        container = context.container()
        made = Streams(container.ports.history, container.feed, context.facts().alive)
        found = current_app.extensions.setdefault(STREAMS, made)
    return cast("Streams", found)


def holder() -> str:
    """Whose streams this request counts among: those of a player, or of an address without a token."""
    return context.caller_id() or f"address {context.address()}"


def authorize() -> Callable[[], object]:
    """Raises Refused once the caller's token is no longer valid."""
    credential = context.credential()
    return _nobody if credential is None else partial(accounts.holder, context.ports(), credential)


def hung_up() -> Callable[[], bool]:
    """Whether the client closed its connection. A write would tell only later, and after the stream keeps its slot until then."""
    return partial(_hung_up, request.environ.get("gunicorn.socket"))


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
    """A stream that holds a slot until it is closed, and uses up the ticket that the request came with.

    What its first frame raises is the request's answer.

    Raises:
        Refused: `ticket-invalid`, another stream has used the ticket meanwhile.
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
    if context.facts().ticket_of is not None and request.method != "HEAD":
        accounts.redeem_ticket(context.ports(), request.args["ticket"])


def _nobody() -> None:
    pass


def _hung_up(client: socket.socket | None) -> bool:
    if client is None or client.family not in {socket.AF_INET, socket.AF_INET6}:
        return False
    return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _ESTABLISHED

"""`python -m tests.benchmarks.lists_server PORT FILE` serves a match at the position with the longest list of actions.

It writes the address of the list to the file.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from flask import Flask
from msgspec.structs import replace

from api.server.gunicorn import Server
from service.games.monsters_on_the_moon.game import GAME

SEATS: Final = 4


class Served(msgspec.Struct, frozen=True):
    """The address of the longest list, and the token to read it."""

    path: str
    token: str


def _factory(_alive: Callable[[], bool]) -> Flask:
    # These modules import ssl, which must not be imported before gevent's patches (api.server.gunicorn).
    from tests.api.checked import Client  # noqa: PLC0415
    from tests.service.games.monsters_on_the_moon.largest import largest_display  # noqa: PLC0415

    client = Client(unchecked=True)
    tokens = [client.sign_up(f"Player {seat}") for seat in range(SEATS)]
    match_id = client.do("/v1/matches", {"game": GAME.info.id, "seats": SEATS}, tokens[0])["id"]
    for token in tokens:
        client.do(f"/v1/matches/{match_id}/seats", {}, token)
    history = client.container.ports.history
    history.keep(replace(history.newest(match_id)[0], state=largest_display()))
    served = Served(f"/v1/matches/{match_id}/legal-actions", tokens[0])
    Path(sys.argv[2]).write_bytes(msgspec.json.encode(served))
    return client.app


if __name__ == "__main__":
    Server(_factory, host="127.0.0.1", port=int(sys.argv[1]), workers=1, on_ready=lambda *_: None).run()

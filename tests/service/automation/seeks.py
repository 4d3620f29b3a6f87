"""Seeks of players for the tests of pairing."""

from typing import Any, Final

from service.match.new_match import NewMatch
from service.repository.ports import Ports
from service.repository.seeks import Seek
from service.usecases import match_codes
from service.usecases.seeking import seek
from tests.service.arena import Arena

GAME: Final = "monkeys_on_the_moon"


def seeks(ports: Ports, player: str, seats: int = 2, key: str = "k", seconds: int = 600, **wanted: Any) -> Seek:
    found = seek(ports, player, NewMatch(GAME, seats, **wanted), key, seconds)
    ports.seeks.see(player)
    return found


def id_of(arena: Arena, player: str, key: str = "k") -> str:
    return match_codes.match_id_of(arena.ports.secret, player, f"seek:{key}")

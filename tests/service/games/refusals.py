"""Checks refusals of any game: their codes, clauses, facts and texts."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from service.games.protocol import AnyGame, IllegalAction, Move
from service.match.texts import refusal_texts
from tests.service.games.rng import ScriptedRng
from tests.service.games.words import raw_words

UNNAMED: Final = r"\d-\d|D\d|[AB]\d\d|nonsense"
"""Ids of fields, districts and cards that have no other name, and an unknown id, which is repeated as it was sent."""


class Fault(NamedTuple):
    """An action that the rules refuse, and the expected refusal."""

    state: msgspec.Struct
    action: msgspec.Struct
    code: str
    clause: str
    facts: Mapping[str, str | int] = MappingProxyType({})
    seat: int = 0
    at: int = 0


def check_refused(game: AnyGame, fault: Fault) -> None:
    move: Move[Any] = Move(fault.seat, fault.action, fault.at)
    with pytest.raises(IllegalAction) as refusal:
        game.decide(fault.state, move, ScriptedRng())
    assert (refusal.value.code, refusal.value.clause, refusal.value.facts) == (fault.code, fault.clause, fault.facts)
    for language, text in refusal_texts(game, refusal.value).items():
        assert not raw_words(game.texts[language], f"refusal.{fault.code}", text, fault.facts, UNNAMED)


def check_codes(game: AnyGame, folder: ModuleType, faults: Iterable[Fault]) -> None:
    """Every code in the game's source has a fault in this list, and a text."""
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(folder.__path__[0]).glob("*.py"))
    codes = set(re.findall(r'(?:raise \w+|IllegalAction)\(\s*"([a-z-]+)"', sources))
    assert codes == {fault.code for fault in faults}
    assert codes == {key.removeprefix("refusal.") for key in game.texts["en"] if key.startswith("refusal.")}

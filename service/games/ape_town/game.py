"""Ape Town, for two to four players."""

from collections.abc import Mapping
from typing import Final

from service.games.ape_town.actions import ACTIONS, AnyAction
from service.games.ape_town.apply import apply
from service.games.ape_town.bots import greedy
from service.games.ape_town.components import RAW, SEATS
from service.games.ape_town.decide import decide
from service.games.ape_town.effects import EFFECTS, AnyEffect
from service.games.ape_town.legal import decisions, legal_actions
from service.games.ape_town.opening import setup
from service.games.ape_town.picture import picture
from service.games.ape_town.scoring import points, score
from service.games.ape_town.state import Options, State
from service.games.ape_town.view import Observation, observation, sample_state
from service.games.kit.folder import read_json, read_text
from service.games.kit.options import parse
from service.games.protocol import Game, GameInfo


def options(seats: int, given: Mapping[str, object]) -> Options:
    """The options of a match for this number of seats. The game has no options.

    Raises:
      BadOptions: an option is given, or the game does not support this number of seats.
    """
    return parse(Options, given, seats, SEATS)


GAME: Final[Game[State, AnyAction, AnyEffect, Options, Observation]] = Game(
    info=GameInfo(
        id="ape_town",
        title="Ape Town",
        ruleset=1,
        seats=SEATS,
        options=Options,
        actions=ACTIONS,
        effects=EFFECTS,
        observation=Observation,
        breakdown=("placement", "boss", "neighbours", "money"),
        simultaneous=False,
    ),
    state=State,
    options=options,
    setup=setup,
    apply=apply,
    decisions=decisions,
    legal_actions=legal_actions,
    decide=decide,
    observation=observation,
    picture=picture,
    sample_state=sample_state,
    points=points,
    score=score,
    bots={"greedy": greedy},
    texts=read_json(__file__, "texts.json"),
    components=RAW,
    rules=read_text(__file__, "RULES.md"),
)

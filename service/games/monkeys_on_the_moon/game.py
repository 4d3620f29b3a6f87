"""Monkeys on the Moon, for two to four players."""

from collections.abc import Mapping
from typing import Final

from service.games.kit.folder import read_json, read_text
from service.games.kit.options import parse
from service.games.monkeys_on_the_moon.actions import ACTIONS, AnyAction
from service.games.monkeys_on_the_moon.apply import apply
from service.games.monkeys_on_the_moon.bots import greedy
from service.games.monkeys_on_the_moon.components import RAW, SEATS
from service.games.monkeys_on_the_moon.decide import decide
from service.games.monkeys_on_the_moon.effects import EFFECTS, AnyEffect
from service.games.monkeys_on_the_moon.legal import decisions, legal_actions
from service.games.monkeys_on_the_moon.opening import setup
from service.games.monkeys_on_the_moon.picture import picture
from service.games.monkeys_on_the_moon.scoring import points, score
from service.games.monkeys_on_the_moon.state import Options, State
from service.games.monkeys_on_the_moon.view import Observation, observation, sample_state
from service.games.protocol import Game, GameInfo


def options(seats: int, given: Mapping[str, object]) -> Options:
    """The options of a match for this number of seats.

    Raises:
      BadOptions: an option is unknown or not a boolean, or the game does not support this number of seats.
    """
    return parse(Options, given, seats, SEATS)


GAME: Final[Game[State, AnyAction, AnyEffect, Options, Observation]] = Game(
    info=GameInfo(
        id="monkeys_on_the_moon",
        title="Monkeys on the Moon",
        ruleset=1,
        seats=SEATS,
        options=Options,
        actions=ACTIONS,
        effects=EFFECTS,
        observation=Observation,
        breakdown=("titles", "ships", "scorn"),
        simultaneous=False,
        variants={
            "maximum_scorn": {"maximum_scorn": True},
            "treachery": {"treachery": True},
            "maximum_scorn_and_treachery": {"maximum_scorn": True, "treachery": True},
        },
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

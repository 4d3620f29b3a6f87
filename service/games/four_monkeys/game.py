"""4 Monkeys, for two to eight players, in real time."""

from collections.abc import Mapping
from typing import Final

from service.games.four_monkeys.actions import ACTIONS, AnyAction
from service.games.four_monkeys.apply import apply
from service.games.four_monkeys.bots import greedy
from service.games.four_monkeys.components import BOX, RAW, SEATS
from service.games.four_monkeys.decide import decide
from service.games.four_monkeys.effects import EFFECTS, AnyEffect
from service.games.four_monkeys.legal import decisions, legal_actions
from service.games.four_monkeys.opening import setup
from service.games.four_monkeys.picture import picture
from service.games.four_monkeys.scoring import points, score
from service.games.four_monkeys.state import Options, State
from service.games.four_monkeys.view import Observation, observation, sample_state
from service.games.kit.folder import read_json, read_text
from service.games.kit.options import parse
from service.games.protocol import Game, GameInfo


def options(seats: int, given: Mapping[str, object]) -> Options:
    """The options of a match for this number of seats. The family version has longer rounds by default (FOU-33).

    Raises:
      BadOptions: an option is unknown, has the wrong type or is out of range, or the game does not support this number
          of seats.
    """
    if given.get("family") is True:
        given = {"round_seconds": BOX.family_round_seconds, **given}
    return parse(Options, given, seats, SEATS)


GAME: Final[Game[State, AnyAction, AnyEffect, Options, Observation]] = Game(
    info=GameInfo(
        id="four_monkeys",
        title="4 Monkeys",
        ruleset=1,
        seats=SEATS,
        options=Options,
        actions=ACTIONS,
        effects=EFFECTS,
        observation=Observation,
        breakdown=("round_1", "round_2", "round_3", "round_4", "false_stops"),
        simultaneous=True,
        keeps_time=True,
        variants={"banana_skins": {"banana_skins": True}, "family": {"family": True}},
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

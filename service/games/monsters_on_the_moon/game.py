"""Monsters on the Moon, for one to four players."""

from typing import Final

from service.games.kit.folder import read_json, read_text
from service.games.monsters_on_the_moon.actions import ACTIONS, AnyAction
from service.games.monsters_on_the_moon.apply import apply
from service.games.monsters_on_the_moon.bots import greedy
from service.games.monsters_on_the_moon.components import RAW, SEATS
from service.games.monsters_on_the_moon.decide import decide
from service.games.monsters_on_the_moon.effects import EFFECTS, AnyEffect
from service.games.monsters_on_the_moon.legal import decisions, legal_actions
from service.games.monsters_on_the_moon.opening import setup
from service.games.monsters_on_the_moon.options import Options, options
from service.games.monsters_on_the_moon.picture import picture
from service.games.monsters_on_the_moon.sampling import sample_state
from service.games.monsters_on_the_moon.scoring import points, score
from service.games.monsters_on_the_moon.state import State
from service.games.monsters_on_the_moon.view import Observation, observation
from service.games.protocol import Game, GameInfo

GAME: Final[Game[State, AnyAction, AnyEffect, Options, Observation]] = Game(
    info=GameInfo(
        id="monsters_on_the_moon",
        title="Monsters on the Moon",
        ruleset=1,
        seats=SEATS,
        options=Options,
        actions=ACTIONS,
        effects=EFFECTS,
        observation=Observation,
        breakdown=(
            "interim_singles",
            "interim_groups",
            "singles",
            "groups",
            "largest_group",
            "vampires",
            "crystals",
            "mission",
            "witches",
            "werewolves",
        ),
        simultaneous=True,
        variants={
            "secret_missions": {"missions": "secret"},
            "open_missions": {"missions": "open"},
            "walls": {"walls": True},
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

"""The toy game. It is not in the registry; tests pass it to whatever needs a game."""

from collections.abc import Mapping
from typing import get_args

from service.games.kit import folder, options, ranking
from service.games.kit.patterns import sample_action
from service.games.protocol import Game, GameInfo, Outcome, Rng, Task
from service.games.visibility import Seat, Viewer
from tests.service.games.toy import decide, picture, view
from tests.service.games.toy.apply import apply
from tests.service.games.toy.state import Commit, Options, State, ToyAction, ToyEffect, value
from tests.service.games.toy.view import Observation

SEATS = (2, 3, 4)


def parse_options(seats: int, given: Mapping[str, object]) -> Options:
    return options.parse(Options, given, seats, SEATS)


def score(state: State, rng: Rng) -> Outcome:
    seats = range(state.seats)
    order = rng.shuffle("ties", seats) if state.options.ties == "drawn" else ()
    breakdown = [
        {"tricks": state.points[seat], "luck": 2 * _is_lucky(state, seat), "missed": -state.missed[seat]}
        for seat in seats
    ]
    return ranking.outcome(breakdown, [(-order.index(seat),) if order else () for seat in seats])


def _is_lucky(state: State, seat: Seat) -> bool:
    return state.lucky[seat] in {value(card) for card in state.hands[seat]}


def play_high(task: Task[ToyAction, Observation], rng: Rng) -> ToyAction:
    """Commits the highest card, and swaps at random."""
    commits = [action for action in task.legal_actions if isinstance(action, Commit)]
    if commits:
        return max(commits, key=lambda action: value(action.card))
    return sample_action(rng.pick("action", task.legal_actions), "cards", rng)


def points(state: State, _viewer: Viewer) -> tuple[int, ...]:
    """The points that each seat has won, minus those it has missed. Its luck is hidden until the end."""
    return tuple(state.points[seat] - state.missed[seat] for seat in range(state.seats))


TOY: Game[State, ToyAction, ToyEffect, Options, Observation] = Game(
    info=GameInfo(
        id="toy",
        title="Toy",
        ruleset=1,
        seats=SEATS,
        options=Options,
        actions=get_args(ToyAction),
        effects=get_args(ToyEffect),
        observation=Observation,
        breakdown=("tricks", "luck", "missed"),
        simultaneous=True,
    ),
    state=State,
    options=parse_options,
    setup=decide.setup,
    apply=apply,
    decisions=decide.decisions,
    legal_actions=decide.legal_actions,
    decide=decide.decide,
    observation=view.observation,
    picture=picture.picture,
    sample_state=view.sample_state,
    points=points,
    score=score,
    bots={"high": play_high},
    texts=folder.read_json(__file__, "texts.json"),
    components={"cards": 52, "provenance": "made up for tests"},
    rules=folder.read_text(__file__, "RULES.md"),
)

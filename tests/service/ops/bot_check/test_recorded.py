"""Recorded decisions: every kind of each game, as the service sends them."""

import msgspec
import pytest

from service.games.bots import choose_at_random
from service.games.protocol import CLOCK, Task
from service.games.registry import GAMES
from service.match.randomness import Draws
from service.match.redaction import legal_actions, own_decisions
from service.ops.bot_check.recorded import first, recorded

NOW = 1_700_000_000_000
LIMIT_MS = 5_000


@pytest.mark.parametrize("name", GAMES)
def test_every_step_and_type_of_action_of_a_game_is_recorded_and_always_the_same(name: str) -> None:
    game = GAMES[name]
    found = recorded(game, LIMIT_MS)
    steps = {key.removeprefix("step.") for key in game.texts["en"] if key.startswith("step.")}
    bells = {one.step for each in found for one in each.match.decisions() if one.seat == CLOCK}
    assert {one.decision.step for one in found} == steps - bells | {one.decision.step for one in found} & bells
    types = {str(one.__struct_config__.tag) for each in found for one in legal_actions(each.match, each.decision.seat)}
    assert types == {str(action.__struct_config__.tag) for action in game.info.actions}
    tasks = [one.task(NOW) for one in found]
    assert tasks == [one.task(NOW) for one in recorded(game, LIMIT_MS)]
    assert len({task.task for task in tasks}) == len(tasks)


@pytest.mark.parametrize("name", GAMES)
def test_a_task_is_about_now_and_its_legal_actions_are_accepted(name: str) -> None:
    game = GAMES[name]
    one = first(game, LIMIT_MS)
    task, seat = one.task(NOW), one.decision.seat
    deadline = task.decision.deadline
    assert deadline is not None
    assert deadline > NOW
    if not game.info.keeps_time:
        assert deadline == NOW + LIMIT_MS
    assert task.observation == one.match.observation(seat)
    assert task.decision.id == own_decisions(one.match, seat)[0].id
    legal = tuple(legal_actions(one.match, seat))
    asked = Task(seat, one.decision.step, game.observation(one.match.state, seat), legal)
    one.check(msgspec.to_builtins(choose_at_random(asked, Draws(lambda: bytes(32), {}))))

"""MON-70 to MON-72: how missions are dealt, chosen and judged."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import ChooseMission, EndTurn
from service.games.monsters_on_the_moon.components import BOX, Monster
from service.games.monsters_on_the_moon.effects import DecisionOpened, MatchEnded, MissionChosen, MissionRevealed
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.missions import points
from service.games.monsters_on_the_moon.start_effects import MissionsDealt, MissionsOpened
from service.games.monsters_on_the_moon.state import State, Turn, awaited_seats
from service.games.protocol import Decision, IllegalAction
from service.games.visibility import Viewer
from tests.service.games.monsters_on_the_moon.builders import (
    after,
    at_step,
    before_gifts,
    decide,
    display_of,
    legal,
    opening,
    table,
    with_display,
    with_holdings,
)
from tests.service.games.rng import ScriptedRng

T = TypeVar("T")

SECRET: Final = {"missions": "secret"}
OPEN: Final = {"missions": "open"}
ORDER = (3, 8, 1, 6, 5, 2, 7, 4)
VALUES = {1: 5, 2: 5, 3: 5, 4: 6, 5: 4, 6: 4, 7: 4, 8: 4}


def before_end(state: State) -> State:
    """All cards are laid, and the turn of seat 0 is about to end."""
    for seat in range(len(state.seats)):
        state = with_holdings(state, seat, hand=())
    state = replace(state, pile=(), active=0, turn=Turn(card="A07", ship=False))
    return after(state, decide(at_step(state, "place_spaceship", 0), EndTurn()))


def choosing(variant: Mapping[str, object], seats: int = 2) -> State:
    missions = ORDER if variant == SECRET else (3, 1, 6, 5, 2, 4)
    return before_end(table(seats, missions=missions, options=variant))


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_mon_70_two_secret_missions_are_dealt_to_each_seat_in_order(seats: int) -> None:
    dealt = [effect for effect in opening(seats, missions=ORDER, options=SECRET) if isinstance(effect, MissionsDealt)]
    assert dealt == [MissionsDealt(seat, 2, ORDER[2 * seat : 2 * seat + 2]) for seat in range(seats)]
    state = before_gifts(seats, missions=ORDER, options=SECRET)
    assert [held.missions for held in state.seats] == [ORDER[2 * seat : 2 * seat + 2] for seat in range(seats)]
    assert state.open_missions == ()


def test_mon_70_secret_missions_are_seen_only_by_their_seat() -> None:
    state = before_gifts(2, missions=ORDER, options=SECRET)
    seen: dict[Viewer, object] = {viewer: GAME.observation(state, viewer).seats[1].missions for viewer in (None, 0, 1)}
    assert seen == {None: None, 0: None, 1: (1, 6)}
    assert [held.mission_count for held in GAME.observation(state, None).seats] == [2, 2]


def test_mon_70_all_eight_missions_may_be_dealt_secretly_and_the_first_six_openly() -> None:
    class RecordingRng(ScriptedRng):
        def shuffle(self, label: str, items: Sequence[T]) -> tuple[T, ...]:
            if label == "missions":
                shuffled.append(items)
            return super().shuffle(label, items)

    shuffled: list[object] = []
    for variant in (SECRET, OPEN):
        GAME.setup(2, GAME.options(2, variant), 0, RecordingRng())
    assert shuffled == [(1, 2, 3, 4, 5, 6, 7, 8), (1, 2, 3, 4, 5, 6)]


def test_mon_70_three_open_missions_lie_there_for_all() -> None:
    effects = opening(3, missions=(3, 1, 6, 5, 2, 4), options=OPEN)
    assert [effect for effect in effects if isinstance(effect, MissionsOpened)] == [MissionsOpened((3, 1, 6))]
    state = before_gifts(3, missions=(3, 1, 6, 5, 2, 4), options=OPEN)
    assert GAME.observation(state, None).open_missions == (3, 1, 6)
    assert all(held.missions == () for held in state.seats)


def test_mon_70_without_the_option_there_are_no_missions_and_the_match_ends_with_the_last_card() -> None:
    state = before_end(table())
    assert awaited_seats(state) == ()
    assert state.step is None


def test_mon_71_each_seat_chooses_one_of_its_two_missions_at_once() -> None:
    state = choosing(SECRET)
    assert GAME.decisions(state) == (
        Decision(0, "choose_mission", ChooseMission(3)),
        Decision(1, "choose_mission", ChooseMission(1)),
    )
    assert legal(state, 0) == [ChooseMission(3), ChooseMission(8)]
    assert legal(state, 1) == [ChooseMission(1), ChooseMission(6)]
    with pytest.raises(IllegalAction) as refused:
        decide(state, ChooseMission(1), 0)
    assert (refused.value.code, refused.value.clause) == ("mission-not-yours", "MON-71")


def test_mon_71_a_choice_is_unseen_until_all_have_chosen() -> None:
    state = choosing(SECRET)
    assert decide(state, ChooseMission(6), 1) == (MissionChosen(1, 6),)
    state = after(state, decide(state, ChooseMission(6), 1))
    assert awaited_seats(state) == (0,)
    seen = {viewer: GAME.observation(state, viewer).seats[1] for viewer in (None, 0, 1)}
    assert {viewer: held.mission for viewer, held in seen.items()} == {None: None, 0: None, 1: 6}
    assert all(held.mission_chosen for held in seen.values())
    assert legal(state, 1) == []
    state = with_display(state, "W W W W")
    effects = decide(state, ChooseMission(3), 0)
    assert effects == (MissionChosen(0, 3), MissionRevealed(0, 3, 0), MissionRevealed(1, 6, 0), MatchEnded())
    state = after(state, effects)
    assert [held.mission for held in GAME.observation(state, None).seats] == [3, 6]


def test_mon_71_several_may_choose_the_same_open_mission_and_all_score_it() -> None:
    state = with_display(choosing(OPEN), "W W W W\nH H H H")
    for seat in range(2):
        assert legal(state, seat) == [ChooseMission(3), ChooseMission(1), ChooseMission(6)]
    for _ in range(2):
        effects = decide(state, ChooseMission(1))
        state = after(state, effects)
    assert effects[1:3] == (MissionRevealed(0, 1, 5), MissionRevealed(1, 1, 5))
    outcome = GAME.score(state, ScriptedRng())
    assert [parts["mission"] for parts in outcome.breakdown] == [5, 5]


def test_mon_71_only_the_chosen_mission_scores() -> None:
    # seat 0 has missions 3 and 8, and fulfils 8
    state = with_display(choosing(SECRET), "W W . H")
    for mission, scored in ((3, 0), (8, 4)):
        ended = after(state, decide(state, ChooseMission(mission), 0))
        ended = after(ended, decide(ended, ChooseMission(1), 1))
        assert GAME.score(ended, ScriptedRng()).breakdown[0]["mission"] == scored


def test_mon_71_missions_are_chosen_after_everything_else() -> None:
    state = at_step(table(2, options=SECRET), "place_spaceship", 0)
    assert decide(state, EndTurn())[-1] == DecisionOpened(1, "place_card")
    assert choosing(SECRET).awaited is None


FULFILLED = [
    (1, "W W W W"),
    (1, "W\nWW\nW\nW"),
    (1, "H W W W W H"),
    (2, "W W\nWW W"),
    (2, ". W W\n. W W"),
    (3, "W W W W . WW W W"),
    (3, "W W W W W . WW W\n. . . . . . W ."),
    (4, "W W . W W . W W\n. . . . . . . .\nWW . WW . . . ."),
    (5, "W . W . W\n. . . . .\nW . W . WW"),
    (5, "H H H H H H H\nH W W W W W H\nH W . H H W H\nH H H H H H H\nW . W . W . W"),
    (6, "c W c\n. c .\nW c ."),
    (6, "c c c c\nW W W W"),
    (7, "W W . H V"),
    (7, "WW . H V V V"),
    (8, "W W . V H"),
    (8, "WW V H H H"),
]
FAILED = [
    (1, "W W W . W"),
    (1, "W W W\n. . W W"),
    (1, "H H H H"),
    (1, "W W W WW".replace("WW", "H")),
    (2, "W W\nW H"),
    (2, "W W W W"),
    (2, "H H\nH H"),
    (3, "W W W W . WW W"),
    (3, "W W W W W W W W"),
    (3, "W W W W . H H H H"),
    (4, "W W . W W . W W\n. . . . . . . .\nWW . W . . . ."),
    (4, "W W W W W W W W W W"),
    (5, "W . W . W\n. . . . .\nW . W . H"),
    (5, "H H H H H H\nH W W W W H\nH W W W W H\nH H H H H H"),
    (6, "c W c\n. c .\nH c ."),
    (6, "c W c . .\n. c . W .\n. . . . c"),
    (7, "W W . H H V"),
    (7, "WW . HH V"),
    (7, "W . HH V"),
    (8, "W W . V V H"),
    (8, "WW . VV H"),
]
THREE: tuple[Monster, ...] = ("werewolf", "witch", "vampire")


@pytest.mark.parametrize(("mission", "picture"), FULFILLED)
def test_mon_72_a_mission_that_is_fulfilled_scores_its_points(mission: int, picture: str) -> None:
    assert points(display_of(picture), THREE, 0, mission) == VALUES[mission]


@pytest.mark.parametrize(("mission", "picture"), FAILED)
def test_mon_72_a_mission_that_is_not_fulfilled_scores_nothing(mission: int, picture: str) -> None:
    assert points(display_of(picture), THREE, 0, mission) == 0


def test_mon_72_left_is_the_next_higher_seat_and_right_the_next_lower() -> None:
    display = display_of("W W . H . V V V")
    judged = {(seat, mission): points(display, THREE, seat, mission) > 0 for seat in range(3) for mission in (7, 8)}
    assert judged == {
        (0, 7): True,  # werewolf 2 over witch 1
        (0, 8): False,  # werewolf 2, vampire 3
        (1, 7): False,
        (1, 8): False,
        (2, 7): True,
        (2, 8): True,
    }


def test_mon_72_with_two_players_both_neighbours_are_the_other() -> None:
    display = display_of("W W . H")
    assert [points(display, THREE[:2], seat, mission) for seat in (0, 1) for mission in (7, 8)] == [4, 4, 0, 0]


def test_mon_72_a_crystal_under_a_spaceship_is_visible() -> None:
    state = with_display(choosing(OPEN), "c W c\n. c .\nW c .")
    state = replace(state, ships=dict.fromkeys(state.display, 1))
    state = after(state, decide(state, ChooseMission(6), 0))
    assert MissionRevealed(0, 6, 4) in decide(state, ChooseMission(3), 1)


def test_mon_72_the_points_are_those_of_the_component_file() -> None:
    assert BOX.missions == VALUES
    assert BOX.open_missions == (1, 2, 3, 4, 5, 6)

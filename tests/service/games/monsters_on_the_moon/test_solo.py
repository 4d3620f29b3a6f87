"""MON-80 to MON-83: a single player."""

import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import PlaceCard, PlaceSpaceship
from service.games.monsters_on_the_moon.components import BOX
from service.games.monsters_on_the_moon.effects import (
    CardDrawn,
    DecisionOpened,
    MarkerMoved,
    MatchEnded,
    PointsScored,
    SoloRated,
    TurnOpened,
)
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.solo import parts, rate
from service.games.monsters_on_the_moon.state import Laid, Rating
from service.games.protocol import BadOptions
from tests.service.games.monsters_on_the_moon.builders import (
    after,
    at_step,
    before_gifts,
    decide,
    display_of,
    legal,
    opening,
    play,
    random_match,
    with_display,
)
from tests.service.games.rng import ScriptedRng

DECK = BOX.decks[1]


def test_mon_80_the_first_of_all_20_cards_lies_open_and_the_next_is_drawn() -> None:
    state = before_gifts(1, deck=DECK)
    assert len(set(DECK)) == 20
    assert state.laid == (Laid("A01", 0, 0, 0, None),)
    assert state.seats[0].hand == ("A02",)
    assert state.pile == DECK[2:]
    assert (state.step, state.awaited) == ("place_card", 0)


def test_mon_80_each_card_is_drawn_and_laid_until_the_pile_is_empty() -> None:
    match = list(random_match(1, 4))
    assert len(match) == 20
    for laid, (state, _) in enumerate(match, 1):
        assert len(state.laid) == laid
        assert len(state.seats[0].hand) + len(state.pile) == 20 - laid
        assert len(state.seats[0].hand) == (0 if laid == 20 else 1)
    assert match[-1][1][-1] == MatchEnded()
    assert match[-1][0].step is None


def test_mon_80_the_next_card_is_drawn_in_the_same_event() -> None:
    state = before_gifts(1, deck=DECK)
    assert decide(state, PlaceCard("A02", 3, 0, 0))[1:] == (
        CardDrawn(0, "A03", "MON-80"),
        TurnOpened(0),
        DecisionOpened(0, "place_card"),
    )


def test_mon_80_cards_are_laid_by_the_same_rules() -> None:
    state = before_gifts(1, deck=DECK)
    listed = legal(state)
    assert PlaceCard("A02", 2, 0, 0) in listed
    assert PlaceCard("A02", 1, 0, 0) not in listed
    assert PlaceCard("A02", 4, 0, 0) not in listed


def test_mon_80_there_is_no_track_no_spaceship_no_plate_no_moonscape_and_no_interim_scoring() -> None:
    for state, effects in random_match(1, 7):
        assert not [effect for effect in effects if isinstance(effect, MarkerMoved | PointsScored)]
        assert not [action for action in legal(state) if isinstance(action, PlaceSpaceship)]
        assert not {"M1", "M2", "ARM"} & {laid.card for laid in state.laid}
        held = state.seats[0]
        assert (held.ships, held.plates, held.field, held.interim_singles) == (0, 0, 0, 0)


def test_mon_80_crystals_that_a_single_player_covers_score_nothing() -> None:
    state = with_display(before_gifts(1, deck=DECK), "c c c\nc c c")
    state = play(state, PlaceCard("A02", 0, 0, 0))
    assert state.seats[0].crystals == 0


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ("V", (0, 0, 0, 0)),
        ("V V", (2, 0, 0, 0)),
        ("VV", (2, 0, 0, 0)),
        ("VV V . V", (3, 0, 0, 0)),
        ("c", (0, 0, 0, 0)),
        ("c c\nc .", (0, 3, 0, 0)),
        ("c . c", (0, 0, 0, 0)),
        ("H . H H", (0, 0, -3, 0)),
        ("HH", (0, 0, -2, 0)),
        ("W W . WW", (0, 0, 0, -4)),
        ("V V c c\nH W WW HH", (2, 2, -3, -3)),
    ],
)
def test_mon_81_vampires_and_crystals_side_by_side_count_and_others_cost(
    picture: str, expected: tuple[int, ...]
) -> None:
    assert tuple(parts(display_of(picture)).values()) == expected
    assert tuple(parts(display_of(picture))) == ("vampires", "crystals", "witches", "werewolves")


def test_mon_81_the_outcome_is_a_win_with_these_parts() -> None:
    state = replace(with_display(before_gifts(1), "V V c c\nH W WW HH"), step=None, awaited=None)
    outcome = GAME.score(state, ScriptedRng())
    assert outcome.breakdown == ({"vampires": 2, "crystals": 2, "witches": -3, "werewolves": -3},)
    assert (outcome.scores, outcome.ranks, outcome.winners) == ((-2,), (1,), (0,))


@pytest.mark.parametrize(
    ("points", "rank"),
    [(-40, 1), (0, 1), (13, 1), (14, 2), (19, 2), (20, 3), (24, 3), (25, 4), (28, 4), (29, 5), (50, 5)],
)
def test_mon_82_the_points_have_a_rank(points: int, rank: int) -> None:
    picture = " ".join("V" * points) if points > 0 else "\n".join("W" * -points) or "e"
    assert rate(display_of(picture)) == SoloRated(points, rank)


def test_mon_82_the_rank_is_reported_and_shown_at_the_end() -> None:
    *_, (state, effects) = random_match(1, 3)
    points = GAME.score(state, ScriptedRng()).scores[0]
    (rated,) = [effect for effect in effects if isinstance(effect, SoloRated)]
    assert rated.points == points
    assert GAME.observation(state, None).rating == Rating(points, rated.rank)
    assert GAME.observation(before_gifts(1), None).rating is None


@pytest.mark.parametrize("given", [{"walls": True}, {"missions": "open"}, {"missions": "secret"}])
def test_mon_83_walls_and_missions_are_refused_for_one_player(given: dict[str, object]) -> None:
    with pytest.raises(BadOptions, match=next(iter(given))):
        GAME.options(1, given)


@pytest.mark.parametrize(
    "given",
    [
        {"layout": "long_ways"},
        {"monsters": ["skeleton"]},
        {"monsters": ["witch", "witch"]},
        {"walls": False, "missions": None},
        {
            "layout": [
                {"card": "d1", "x": 0, "y": 0, "rotation": 0},
                {"card": "d2", "x": 3, "y": 0, "rotation": 0},
            ]
        },
    ],
)
def test_mon_83_layout_and_monsters_change_nothing_for_one_player(given: dict[str, object]) -> None:
    plain = opening(1)
    assert opening(1, options=given)[1:] == plain[1:]
    with_options = after(None, opening(1, options=given))
    assert replace(with_options, options=after(None, plain).options) == after(None, plain)
    assert at_step(with_options, "place_card", 0) == with_options

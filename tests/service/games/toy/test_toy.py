"""The toy game follows its RULES.md, which the laws do not test."""

import msgspec
import pytest
from msgspec.structs import replace

from service.games.protocol import CLOCK, IllegalAction, Move, Ring, Task, fold
from service.games.visibility import Effect, redact
from tests.service.games.matches import START, draws
from tests.service.games.toy import state as toy
from tests.service.games.toy.game import TOY
from tests.service.games.toy.state import Commit, Keep, Options, State, Swap, ToyAction

OPEN = START + 1_000
BELL = OPEN + 30_000


def table(seats: int = 2, **options: object) -> State:
    state = fold(TOY, None, TOY.setup(seats, TOY.options(seats, options), START, draws("toy")))
    assert state is not None
    return state


def holding(state: State, *hands: tuple[str, ...]) -> State:
    """The state with these hands and all other cards in the deck."""
    held = {card for hand in hands for card in hand}
    return replace(state, hands=hands, deck=tuple(card for card in toy.CARDS if card not in held))


def after(state: State, *moves: Move[ToyAction]) -> tuple[State, tuple[Effect, ...]]:
    effects: tuple[Effect, ...] = ()
    for move in moves:
        pending = TOY.decide(state, move, draws("toy"))
        effects += pending
        folded = fold(TOY, state, pending)
        assert folded is not None
        state = folded
    return state, effects


def test_toy_10_all_commit_at_once_and_others_see_only_that_a_card_is_committed() -> None:
    state = holding(table(3), ("1-1",), ("2-1",), ("3-1",))
    assert [one.seat for one in TOY.decisions(state)] == [0, 1, 2, CLOCK]
    state, (committed,) = after(state, Move(1, Commit("2-1"), OPEN))
    assert [one.seat for one in TOY.decisions(state)] == [0, 2, CLOCK]
    assert redact(committed, 0) == {"type": "card_committed", "seat": 1}
    assert TOY.observation(state, 1).committed == "2-1"
    assert TOY.observation(state, 0).committed is None


@pytest.mark.parametrize(("cards", "scored"), [(("9-1", "12-1"), [(1, 2)]), (("9-1", "9-2"), [])])
def test_toy_13_a_single_highest_value_scores_a_point_for_each_card(
    cards: tuple[str, str], scored: list[tuple[int, int]]
) -> None:
    state = holding(table(), cards[:1], cards[1:])
    _, effects = after(state, Move(0, Commit(cards[0]), OPEN), Move(1, Commit(cards[1]), OPEN))
    assert toy.TrickRevealed(cards) in effects
    assert [(one.seat, one.points) for one in effects if isinstance(one, toy.PointsScored)] == scored


def test_toy_11_the_timer_takes_a_card_of_a_late_seat() -> None:
    state = holding(table(), ("9-1",), ("12-1",))
    state, effects = after(state, Move(0, Commit("9-1"), BELL - 1), Move(CLOCK, Ring("trick"), BELL))
    assert effects[1:4] == (
        toy.CardForfeited(1, "12-1"),
        toy.TrickRevealed(("9-1", None)),
        toy.PointsScored(0, 1, "TOY-13"),
    )
    assert state.missed == (0, 1)


@pytest.mark.parametrize(
    ("move", "code"),
    [
        (Move(0, Commit("1-1"), OPEN - 1), "too-early"),
        (Move(0, Commit("1-1"), BELL), "too-late"),
        (Move(0, Commit("2-1"), OPEN), "card-not-held"),
        (Move(0, Keep(), OPEN), "not-asked"),
        (Move(CLOCK, Commit("1-1"), OPEN), "not-asked"),
        (Move(0, Ring("trick"), BELL), "no-such-bell"),
        (Move(CLOCK, Ring("trick"), BELL - 1), "no-such-bell"),
        (Move(CLOCK, Ring("tick"), BELL), "no-such-bell"),
    ],
)
def test_an_illegal_move_is_refused_with_its_code(move: Move[ToyAction], code: str) -> None:
    with pytest.raises(IllegalAction) as refused:
        TOY.decide(holding(table(), ("1-1",), ("2-1",)), move, draws("toy"))
    assert refused.value.code == code


def swapping(**changes: object) -> State:
    state = holding(table(), ("1-1", "2-1"), ("13-1",))
    return msgspec.structs.replace(fold(TOY, state, [toy.SwapOpened()]) or state, **changes)


def test_toy_20_a_swap_draws_from_the_top_or_on_request_from_the_bottom() -> None:
    state = swapping()
    top, _ = after(state, Move(0, Swap(("2-1", "1-1")), OPEN))
    bottom, _ = after(state, Move(0, Swap(("2-1",), from_bottom=True), OPEN))
    assert top.hands[0] == state.deck[:2]
    assert top.discards == ("2-1", "1-1")
    assert bottom.hands[0] == ("1-1", state.deck[-1])


def test_toy_02_discards_go_under_a_deck_that_is_too_small() -> None:
    state = swapping(deck=("5-1",), discards=("6-1",))
    state, effects = after(state, Move(0, Swap(("1-1", "2-1")), OPEN))
    reshuffled = effects[1]
    assert isinstance(reshuffled, toy.DeckReshuffled)
    assert sorted(reshuffled.order) == ["1-1", "2-1", "6-1"]
    assert state.hands[0] == ("5-1", reshuffled.order[0])


def test_toy_20_the_next_trick_opens_when_all_have_swapped_or_kept() -> None:
    state, effects = after(swapping(), Move(0, Keep(), OPEN), Move(1, Keep(), BELL))
    assert effects[-1] == toy.TrickOpened(2, BELL + 1_000, BELL + 31_000)
    assert all(state.waiting)


@pytest.mark.parametrize(("ties", "ranks"), [("shared", [1, 1]), ("drawn", [1, 2])])
def test_toy_30_ties_are_shared_or_drawn(ties: str, ranks: list[int]) -> None:
    state = replace(holding(table(ties=ties), ("4-1",), ("5-1", "5-2")), lucky=(5, 5), points=(5, 4), missed=(0, 1))
    outcome = TOY.score(state, draws("toy"))
    assert outcome.scores == (5, 5)
    assert outcome.breakdown[1] == {"tricks": 4, "luck": 2, "missed": -1}
    assert sorted(outcome.ranks) == ranks


def test_the_bot_commits_its_highest_card() -> None:
    state = holding(table(), ("9-1", "10-1"), ("2-1",))
    task = Task(0, "commit", TOY.observation(state, 0), tuple(TOY.legal_actions(state, 0)))
    assert TOY.bots["high"](task, draws("bot")) == Commit("10-1")


def test_a_hidden_clock_shows_no_deadline() -> None:
    state = table(timer_visible=False)
    assert TOY.observation(state, 0).deadline is None
    assert not any(one.deadline_shown for one in TOY.decisions(state))
    assert state.options == Options(timer_visible=False)

"""The parts that all pictures share, and their words."""

import pytest

from service.games.drawing import frame
from service.games.drawing.svg import Element
from service.games.drawing.words import SHARED, picture_words, wrap
from service.games.protocol import Outcome
from service.games.visibility import Seat, Viewer

WORDS = picture_words({"en": {"title": "Toy", "step.commit": "Commit a card."}, "de": {"title": "Spielzeug"}}, "en")
END = Outcome((3, 5), (2, 1), (1,), ({}, {}))


def texts_of(element: Element | str) -> list[str]:
    if isinstance(element, str):
        return [element]
    return [words for child in element.children for words in texts_of(child)]


@pytest.mark.parametrize(
    ("awaited", "step", "viewer", "outcome", "status"),
    [
        ((1,), "commit", None, None, "Seat 1: Commit a card."),
        ((0, 1), "commit", 1, None, "Seat 0, You · seat 1: Commit a card."),
        ((), "commit", None, None, "Commit a card."),
        ((), None, 0, None, "The match is over."),
        ((), None, 1, END, "The match is over. Won by: You · seat 1."),
    ],
)
def test_the_heading_has_the_step_that_the_match_waits_for(
    awaited: tuple[Seat, ...], step: str | None, viewer: Viewer, outcome: Outcome | None, status: str
) -> None:
    assert frame.status(awaited, step, viewer, WORDS, outcome) == status


@pytest.mark.parametrize(("viewer", "order"), [(None, (0, 1, 2)), (0, (1, 2, 0)), (2, (0, 1, 2)), (7, (0, 1, 2))])
def test_the_viewer_sits_last(viewer: Viewer, order: tuple[Seat, ...]) -> None:
    assert frame.seating_order(range(3), viewer) == order


@pytest.mark.parametrize(
    ("to_move", "outcome", "points", "words", "kind"),
    [
        (True, None, 4, ["You · seat 1", "to move", "4"], "panel turn"),
        (True, None, None, ["You · seat 1", "to move"], "panel turn"),
        (False, None, 4, ["You · seat 1", "4"], "panel"),
        (False, END, 4, ["You · seat 1", "Rank 1", "5"], "panel won"),
    ],
)
def test_a_panel_shows_whose_turn_it_is_and_at_the_end_the_rank(
    to_move: bool, outcome: Outcome | None, points: int | None, words: list[str], kind: str
) -> None:
    drawn = frame.panel(1, 300, 100, at=(0, 0), viewer=1, words=WORDS, to_move=to_move, outcome=outcome, points=points)
    assert texts_of(drawn) == words
    assert isinstance(drawn.children[0], Element)
    assert drawn.children[0].css_class == kind
    assert drawn.data == {"seat": 1}


def test_a_long_sentence_takes_two_lines_at_most() -> None:
    lines = [texts_of(element)[0] for element in frame.heading(600, WORDS, "word " * 60) if element.tag == "text"]
    assert lines[0] == "Toy"
    assert [len(line) for line in lines[1:]] == [54, 54]
    assert wrap("a " + "b" * 30 + " c", 10) == ("a", "b" * 30, "c")


def test_a_picture_is_described_in_words() -> None:
    assert frame.summary(WORDS, "Go on.", None, None) == "Go on."
    assert frame.summary(WORDS, "Go on.", (1, 2), 0) == "Go on. Points: You · seat 0 1, Seat 1 2."


def test_both_languages_have_the_same_words() -> None:
    assert list(SHARED["en"]) == list(SHARED["de"])
    assert picture_words({"en": {}, "de": {"title": "Spielzeug"}}, "de")["title"] == "Spielzeug"

"""Exactly the elements that differ between two pictures are marked."""

import pytest

from service.games.drawing.changes import CHANGED, mark_changes
from service.games.drawing.page import Picture
from service.games.drawing.svg import Element, circle, group, rect, text

COIN = circle(0, 0, 9, "coin")


def picture(*body: Element) -> Picture:
    return Picture(100, 100, "toy", "en", "Toy", "A toy", {}, body)


def card(name: str, *inside: Element, at: tuple[int, int] = (0, 0), words: str = "") -> Element:
    return group(rect(0, 0, 9, 9, "edge"), *inside, element_id=name, at=at, title=words)


def named(elements: tuple[Element | str, ...]) -> set[str]:
    found: set[str] = set()
    for element in elements:
        if isinstance(element, Element):
            found |= named(element.children)
            if CHANGED in element.css_class.split():
                found.add(element.id)
    return found


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ((card("a"),), (card("a"),), set()),
        ((), (card("a"),), {"a"}),
        ((card("a"),), (), set()),
        ((card("a"),), (card("a", COIN),), {"a"}),
        ((card("a", words="One"),), (card("a", words="Two"),), {"a"}),
        ((card("a"), card("b")), (card("b", at=(9, 0)),), set()),
        ((card("a", card("c")), card("b")), (card("a"), card("b", card("c"))), {"c"}),
        ((card("a", card("c")),), (card("a", card("c", COIN)),), {"c"}),
        ((text(0, 0, 1, "score", element_id="s"),), (text(0, 0, 2, "score", element_id="s"),), {"s"}),
        ((text(0, 0, 1, "score"),), (text(0, 0, 2, "score"),), set()),
        ((group(group(COIN), element_id="a"),), (group(group(rect(0, 0, 1, 1, "")), element_id="a"),), {"a"}),
        ((group(circle(1, 0, 9, "stone"), element_id="a"),), (group(circle(2, 0, 9, "stone"), element_id="a"),), {"a"}),
    ],
    ids=[
        "no difference",
        "a new element",
        "a removed element",
        "an element added inside",
        "its title",
        "its position",
        "its parent",
        "a nested element",
        "a number",
        "an element without an id",
        "a change deep inside an element",
        "the geometry inside it",
    ],
)
def test_differences_are_marked(before: tuple[Element, ...], after: tuple[Element, ...], changed: set[str]) -> None:
    drawn = mark_changes(picture(*before), picture(*after))
    assert named(drawn.body) == changed
    assert drawn._replace(body=()) == picture()

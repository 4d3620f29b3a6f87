"""The markup of elements: every string is escaped."""

from xml.etree import ElementTree as ET

import pytest

from service.games.drawing.page import Picture, document
from service.games.drawing.style import POLICY_SOURCE, STYLE
from service.games.drawing.svg import (
    Element,
    art,
    circle,
    ellipse,
    escaped,
    group,
    path,
    points,
    rect,
    text,
    use,
    write,
)


def written(element: Element | str) -> str:
    parts: list[str] = []
    write(element, parts)
    return "".join(parts)


@pytest.mark.parametrize(
    ("element", "markup"),
    [
        (rect(1, 2, 3, 4, "panel"), '<rect class="ms-panel" x="1" y="2" width="3" height="4"/>'),
        (rect(1, 2, 3, 4, "", corner=5), '<rect x="1" y="2" width="3" height="4" rx="5"/>'),
        (circle(1, -2, 3, "coin edge"), '<circle class="ms-coin ms-edge" cx="1" cy="-2" r="3"/>'),
        (ellipse(1, 2, 3, 4, "ear"), '<ellipse class="ms-ear" cx="1" cy="2" rx="3" ry="4"/>'),
        (path(points(((0, 0), (4, 0), (2, 3))), "tile"), '<path class="ms-tile" d="M0 0L4 0L2 3z"/>'),
        (
            text(1, 2, 7, "number", element_id="seat-0-points"),
            '<text id="seat-0-points" class="ms-number" x="1" y="2">7</text>',
        ),
        (use("coin", 3, 4), '<use href="#art-coin" x="3" y="4"/>'),
        (use("coin"), '<use href="#art-coin"/>'),
        (use("coin", scale_permille=850), '<use href="#art-coin" transform="translate(0 0) scale(0.85)"/>'),
        (art("coin"), '<g id="art-coin"/>'),
        (
            group(group(), element_id="field-1", data={"field": "1", "x": -3}, at=(5, 6), title="Field 1"),
            '<g id="field-1" transform="translate(5 6)" data-field="1" data-x="-3"><title>Field 1</title><g/></g>',
        ),
    ],
    ids=lambda value: value.tag if isinstance(value, Element) else "",
)
def test_an_element_is_written_with_its_class_geometry_and_names(element: Element, markup: str) -> None:
    assert written(element) == markup


@pytest.mark.parametrize(
    ("words", "markup"),
    [
        ("Grün & <b>'\"", "Grün &amp; &lt;b&gt;&#39;&quot;"),
        ("]]><!-- -->", "]]&gt;&lt;!-- --&gt;"),
        ("\x00\x1b[31m\ufffe\ud800\t\n", "\ufffd\ufffd[31m\ufffd\ufffd\t\n"),
        ("🐒 plain", "🐒 plain"),
    ],
)
def test_any_string_becomes_text_of_an_xml_document(words: str, markup: str) -> None:
    assert escaped(words) == markup
    assert ET.fromstring(f'<a b="{escaped(words)}">{escaped(words)}</a>').text is not None


def test_a_document_defines_only_drawings_that_it_uses_and_names_its_game() -> None:
    drawn = document(
        Picture(
            300,
            200,
            css_class="toy",
            language="de",
            title="<Toy>",
            description="Two & two",
            art={"coin": art("coin", circle(0, 0, 9, "coin")), "disc": art("disc", circle(0, 0, 9, "disc"))},
            body=(use("coin", 1, 2),),
        )
    )
    assert drawn.startswith(
        '<svg xmlns="http://www.w3.org/2000/svg" class="ms-picture" width="300" height="200" viewBox="0 0 300 200" '
        'lang="de" role="group"><title>&lt;Toy&gt;</title><desc>Two &amp; two</desc><style>'
    )
    assert drawn.endswith(
        '<defs><g id="art-coin"><circle class="ms-coin" cx="0" cy="0" r="9"/></g></defs>'
        '<rect class="ms-ground ms-toy" x="0" y="0" width="300" height="200"/>'
        '<use href="#art-coin" x="1" y="2"/></svg>\n'
    )
    assert STYLE in drawn
    assert POLICY_SOURCE.startswith("'sha256-")

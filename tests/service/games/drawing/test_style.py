"""The style sheet in pictures: light and dark colours are filled in, and every class is prefixed."""

import re

import pytest

from service.games.drawing.style import STYLE, flatten
from service.games.kit.folder import read_text

SHEET = """
/* A comment: { not a rule } */
:root {
  --ink: #000;
  --paper: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #eee;
  }
}
.tile, .back.wide { fill: var(--ink); stroke-width: 2; }
.changed > .edge { stroke: #f80; }
.card { fill: var(--paper); }
"""


def test_light_colours_are_in_all_rules_and_dark_ones_in_rules_with_colours() -> None:
    assert flatten(SHEET) == (
        ".ms-tile,.ms-back.ms-wide{fill:#000;stroke-width:2}.ms-changed>.ms-edge{stroke:#f80}.ms-card{fill:#fff}"
        "@media (prefers-color-scheme:dark){.ms-tile,.ms-back.ms-wide{fill:#eee;stroke-width:2}.ms-card{fill:#fff}}"
    )


def test_a_sheet_without_colours_or_with_an_unknown_one_is_refused() -> None:
    with pytest.raises(ValueError, match="light and dark"):
        flatten(".tile{fill:#000}")
    with pytest.raises(KeyError, match="nowhere"):
        flatten(SHEET + ".tile{fill:var(--nowhere)}")


def test_the_sheet_loads_nothing_and_leaves_no_property_open() -> None:
    for forbidden in ("url(", "@import", "var(", "<", "expression", "\n"):
        assert forbidden not in STYLE


def test_every_rule_selects_only_by_class() -> None:
    selectors = re.findall(r"([^{}]+)\{", STYLE.replace("@media (prefers-color-scheme:dark){", ""))
    assert all(
        re.fullmatch(r"(?:text)?(?:\.ms-[a-z0-9-]+)+(?:>\.ms-[a-z-]+)?", one)
        for each in selectors
        for one in each.split(",")
    )


def test_each_colour_of_the_sheet_is_used() -> None:
    sheet = read_text(__file__, "../../../../service/games/drawing/style.css")
    for name in re.findall(r"(--[a-z0-9-]+):", sheet):
        assert f"var({name})" in sheet, name

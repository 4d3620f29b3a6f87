"""The style sheet that every picture contains, and its hash for a Content-Security-Policy.

`style.css` uses custom properties for the light and the dark colours. Many programs that convert SVG to bitmaps support
neither custom properties nor media queries, so `flatten` inserts the values: the light colours into all rules, and the
dark ones into a second copy of the rules that use colours. Selectors use only prefixed classes, so the sheet does not
affect a page that contains a picture inline. They use no ancestors, because those do not match the shadow tree of a
`use` element.
"""

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Final

from service.games.drawing.svg import CLASS
from service.games.kit.folder import read_text

_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_DARK: Final = re.compile(r"@media \(prefers-color-scheme: dark\) \{\s*:root \{([^}]*)\}\s*\}")
_LIGHT: Final = re.compile(r":root \{([^}]*)\}")
_RULE: Final = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COLOUR: Final = re.compile(r"var\(--([a-z0-9-]+)\)")
_CLASS: Final = re.compile(r"\.(?=[a-z])")
_SPACE: Final = re.compile(r"\s*([{};:,>])\s*")


def flatten(sheet: str) -> str:
    """The rules of a sheet with the light colours inserted, then the rules that use colours again with the dark ones.

    Raises:
      ValueError: the sheet has no light or no dark colours.
      KeyError: a rule uses a colour that the sheet does not define.
    """
    bare = _COMMENT.sub("", sheet)
    dark, light = _DARK.search(bare), _LIGHT.search(bare)
    if dark is None or light is None:
        raise ValueError("the sheet must define light and dark colours in :root")
    rules = _RULE.findall(_SPACE.sub(r"\1", _LIGHT.sub("", _DARK.sub("", bare)).strip()).replace(";}", "}"))
    coloured = [rule for rule in rules if _COLOUR.search(rule[1])]
    light_colours = _colours(light[1])
    dark_colours = {**light_colours, **_colours(dark[1])}
    return (
        f"{_filled_in(rules, light_colours)}@media (prefers-color-scheme:dark){{{_filled_in(coloured, dark_colours)}}}"
    )


def _colours(block: str) -> Mapping[str, str]:
    pairs = (line.partition(":") for line in block.split(";") if line.strip())
    return {name.strip().removeprefix("--"): value.strip() for name, _, value in pairs}


def _filled_in(rules: Sequence[tuple[str, str]], colours: Mapping[str, str]) -> str:
    return "".join(
        f"{_CLASS.sub('.' + CLASS, selectors)}{{{_COLOUR.sub(lambda found: colours[found[1]], body)}}}"
        for selectors, body in rules
    )


STYLE: Final = flatten(read_text(__file__, "style.css"))
POLICY_SOURCE: Final = f"'sha256-{b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
"""The hash of the sheet, as a source of `style-src` in a Content-Security-Policy."""

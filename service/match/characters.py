"""Characters that a text of a player must not contain: control characters, those that change the direction of text, and
some that are invisible.

With them, two different names could look the same.
"""

from typing import Final

CONTROL: Final = r"\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069"
"""Written for a character class of a regular expression, in Python and in the reference (ECMA 262)."""

BLANK: Final = frozenset("\u2800\ufffc\U0001d159\U00013441\U00013442\U00016fe4")
"""Symbols and letters that are invisible, although the profile for names accepts them."""


def printable(text: str) -> str:
    """Untrusted text with line ends and control characters replaced, so that it cannot control a terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)

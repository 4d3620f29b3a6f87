"""The words in pictures: those that all pictures share, and those of a game."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from service.games.kit.folder import read_json

Words: TypeAlias = Mapping[str, str]
"""Texts by key, in one language.

`language` holds the language code. Keys of a game's own texts contain a dot, except `title`.
"""

SHARED: Final[Mapping[str, Words]] = read_json(__file__, "words.json")


def picture_words(texts: Mapping[str, Words], language: str) -> Words:
    """The shared words and the game's own texts in one language."""
    return {**SHARED[language], **texts[language]}


def wrap(words: str, most: int) -> tuple[str, ...]:
    """Split text into lines of at most `most` characters. A longer word gets a line of its own."""
    lines: list[str] = []
    for word in words.split():
        if lines and len(lines[-1]) + len(word) < most:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return tuple(lines)

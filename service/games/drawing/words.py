"""What a picture says: the words that all pictures share, and those of its game."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from service.games.kit.folder import read_json

Words: TypeAlias = Mapping[str, str]
"""By key, in one language, whose name `language` holds. The keys of a game's own texts have a dot, but for `title`."""

SHARED: Final[Mapping[str, Words]] = read_json(__file__, "words.json")


def picture_words(texts: Mapping[str, Words], language: str) -> Words:
    """The shared words and a game's own texts in one language."""
    return {**SHARED[language], **texts[language]}


def wrap(words: str, most: int) -> tuple[str, ...]:
    """Lines of so many characters at most; a longer word stands alone."""
    lines: list[str] = []
    for word in words.split():
        if lines and len(lines[-1]) + len(word) < most:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return tuple(lines)

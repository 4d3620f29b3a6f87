"""Finds ids in texts where people expect the name of a thing."""

import re
from collections.abc import Iterator, Mapping
from typing import Any


def raw_words(
    texts: Mapping[str, str], key: str, text: str, fields: Mapping[str, Any], without: str = "(?!)"
) -> set[str]:
    """Values of an effect, action or refusal that its text repeats unchanged, except in brackets after a name.

    `without` is a pattern of ids that have no name.
    """
    used = [value for name, value in fields.items() if f"{{{name}}}" in texts[key]]
    named = re.sub(r"(?<=\w )\([^\s()]+\)", "", text)
    return {
        word
        for word in _words(used)
        if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", named)
        and not re.fullmatch(without, word)
        and not any(name.endswith(f".{word}") and word in text for name, text in texts.items())
    }


def _words(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, part in value.items():
                yield name
                yield from _words(part)
        case list() | tuple():
            for part in value:
                yield from _words(part)

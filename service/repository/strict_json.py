"""Strict JSON: refuses what other parsers read differently or not at all.

RFC 8259 leaves open what a duplicate key, 1e999 or an integer beyond 2^53 means, and Python's parser also accepts NaN and
lone surrogates. Accepted here: UTF-8 without a byte order mark, at most MAX_DEPTH levels, unique keys, integers within
±(2^53 − 1), no NUL, no lone surrogate.
"""

import json
import re
from typing import Final, NoReturn, TypeAlias

JSON: TypeAlias = "bool | int | str | list[JSON] | dict[str, JSON] | None"

MAX_DEPTH: Final = 16
MAX_INTEGER: Final = 2**53 - 1
_MAX_DIGITS: Final = 17

# The quantifier is possessive, and an unterminated string extends to the end of the text, so matching is always linear.
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))


class BadJSON(ValueError):
    """The bytes are not JSON that the service accepts. The message says why, and quotes nothing of them."""


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise BadJSON("An object has the same key twice.")
    return members


def _integer(digits: str) -> int:
    # Check the length first: int() of many digits is slow, and Python refuses more than 4,300.
    if len(digits) > _MAX_DIGITS or abs(value := int(digits)) > MAX_INTEGER:
        raise BadJSON("An integer is not within ±(2^53 − 1).")
    return value


def _fraction(_: str) -> NoReturn:
    raise BadJSON("Numbers are integers, without fraction or exponent.")


def _constant(_: str) -> NoReturn:
    raise BadJSON("NaN and Infinity are not JSON.")


_decode: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_integer, parse_float=_fraction, parse_constant=_constant
).decode


def _check_depth(body: bytes) -> None:
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _STRING.sub(b"", body).translate(None, _NO_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            raise BadJSON(f"More than {MAX_DEPTH} levels deep.")


def _check_characters(value: JSON) -> None:
    match value:
        case str():
            if "\0" in value or (not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value)):
                raise BadJSON("A string contains NUL or half of a surrogate pair.")
        case list():
            for item in value:
                _check_characters(item)
        case dict():
            for key, item in value.items():
                _check_characters(key)
                _check_characters(item)


def loads(body: bytes) -> JSON:
    """The value of a JSON text.

    Raises:
        BadJSON: for any bytes that are not accepted; no other exception is raised.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise BadJSON("Not UTF-8.") from None
    if text.startswith("\ufeff"):
        raise BadJSON("There is a byte order mark before the JSON.")
    _check_depth(body)
    try:
        value: JSON = _decode(text)
    except json.JSONDecodeError as error:
        reason = f"{error.msg} (character {error.pos})." if body.strip() else "The body is empty; send at least {}."
        raise BadJSON(reason) from None
    # The parser refuses a raw NUL, and raw surrogates are not UTF-8, so both can come only from escapes.
    if "\\u" in text:
        _check_characters(value)
    return value

"""Reports of an exception contain where it was raised, and never its message."""

import ast
import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from events.chain import BrokenChain, follow
from events.record import Head
from service.errors import Refused, location
from service.observability.safe_traceback import trace

ROOT = Path(__file__).parents[3]
SOURCES = [path for folder in ("api", "service", "workers", "events") for path in sorted((ROOT / folder).rglob("*.py"))]
HIDDEN = "the card 7"
SAFE_MESSAGES = {"RedisError", "Unusable", "BadSetting"}
"""Exceptions of servers and settings: their messages contain nothing of a match."""


def deep(card: str) -> None:
    if card:
        raise KeyError(card)


def caught(kind: type[Exception] | None = None) -> BaseException:
    try:
        try:
            deep(HIDDEN)
        except KeyError as error:
            if kind is not None:
                raise kind(HIDDEN) from error
            raise
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError


def test_a_location_is_the_class_and_the_line_that_raised_it() -> None:
    line = deep.__code__.co_firstlineno + 2
    assert location(caught()) == f"KeyError at {__name__}:{line} in deep"
    assert location(KeyError(HIDDEN)) == "KeyError"


def test_a_trace_has_every_step_and_every_class_and_no_text() -> None:
    text = trace(caught(ValueError))
    assert HIDDEN not in text
    assert text.index("in deep\n") < text.index("KeyError\nThen:\n") < text.index("in caught\n", text.index("Then:"))
    assert text.endswith("ValueError")
    assert trace(None) == ""


def test_a_cyclic_chain_of_exceptions_is_printed_once() -> None:
    one, other = KeyError(HIDDEN), ValueError(HIDDEN)
    one.__context__, other.__context__ = other, one
    assert trace(one) == "ValueError\nThen:\nKeyError"


def test_an_error_of_the_operating_system_has_the_system_s_message() -> None:
    assert trace(OSError(errno.EADDRINUSE, HIDDEN, HIDDEN)) == "OSError (Address already in use)"
    assert trace(OSError(HIDDEN)) == "OSError"


def test_a_refusal_as_text_is_its_code() -> None:
    assert str(Refused("illegal-action", f"You do not hold {HIDDEN}.", card=HIDDEN)) == "illegal-action"


@pytest.mark.parametrize("stored", [b'{"the card 7":1}', b"the card 7", b'{"version":"the card 7"}'])
def test_bytes_that_are_no_event_are_not_reported(stored: bytes) -> None:
    with pytest.raises(BrokenChain) as refused:
        follow(Head(1, "00"), stored)
    assert "card" not in refused.value.fault


def logged() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Every exception that is an argument of a log call: the location of the call, the variable and its possible classes."""
    for path in SOURCES:
        for handler in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ExceptHandler)):
            for call in (node for node in ast.walk(handler) if isinstance(node, ast.Call)):
                if not ast.unparse(call.func).startswith("_log."):
                    continue
                if any(isinstance(part, ast.Name) and part.id == handler.name for part in call.args):
                    kinds = frozenset(ast.unparse(handler.type or ast.Name("any")).strip("()").split(", "))
                    yield f"{path.relative_to(ROOT)}:{call.lineno}", ast.unparse(call), kinds


def test_no_log_line_contains_the_message_of_an_exception_that_may_know_a_match() -> None:
    safe = {*SAFE_MESSAGES, "Refused", "Corrupt"}  # their messages are a code, or a version with a location
    found = [*logged()]
    assert [call for call, _, kinds in found if not kinds <= safe] == []
    assert len(found) > 3

"""A mismatch names the location of a bad value, and what would be right there."""

from typing import Annotated, Literal

import msgspec
import pytest

from service.games.kit.mismatch import MAX_STEP_LENGTH, MAX_VALUES, alternatives, mismatch


class Inner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    size: Literal[1, 2]


class Outer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=9)] = "x"
    kind: Literal["a", "b"] | tuple[Inner, ...] | None = None
    count: Annotated[int, msgspec.Meta(ge=3)] = 3
    small: Annotated[int, msgspec.Meta(ge=3, le=5)] = 3
    on: bool = False
    coins: dict[Annotated[str, msgspec.Meta(min_length=1)], Annotated[int, msgspec.Meta(ge=1)]] = {}
    listed: Annotated[tuple[Inner, ...], msgspec.Meta(max_length=2)] = ()
    inner: Inner | None = None


class Empty(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


NAMES = ", ".join(Outer.__struct_fields__)


@pytest.mark.parametrize(
    ("given", "path", "fault"),
    [
        ({"name": ""}, ("name",), "must be text of 1 to 9 characters"),
        ({"kind": "c"}, ("kind",), "must be a, b, a list or null"),
        ({"kind": [{"size": 3}]}, ("kind", "0", "size"), "must be 1 or 2"),
        ({"kind": [{}]}, ("kind", "0", "size"), "is missing; it must be 1 or 2"),
        ({"count": "3"}, ("count",), "must be an integer from 3"),
        ({"small": 6}, ("small",), "must be an integer from 3 to 5"),
        ({"on": 1}, ("on",), "must be true or false"),
        ({"coins": {"red": 0}}, ("coins",), "must be an object whose values are integers from 1"),
        ({"coins": {"": 1}}, ("coins",), "must be an object whose values are integers from 1"),
        ({"listed": [{"size": 1}] * 3}, ("listed",), "must be a list of 0 to 2 items"),
        ({"listed": [{"size": 1}, {"size": 2, "a`b": 1}]}, ("listed", "1", "a`b"), "is unknown; known names: size"),
        ({"inner": 1}, ("inner",), "must be an object or null"),
        ({"x - at `$.name`": 1}, ("x - at `$.name`",), f"is unknown; known names: {NAMES}"),
        ({"a.b\n/~": 1}, ("a.b\n/~",), f"is unknown; known names: {NAMES}"),
        ({"": 1}, ("",), f"is unknown; known names: {NAMES}"),
    ],
)
def test_a_mismatch_names_its_location_and_the_valid_values(given: object, path: tuple[str, ...], fault: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(given, Outer, strict=True)
    found = mismatch(Outer, caught.value)
    assert (found.path, found.fault) == (path, fault)
    assert str(found) == f"{'.'.join(path)} {fault}"


def test_a_type_without_fields_has_no_field_names_to_list() -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert({"y" * 99: 1}, Empty, strict=True)
    assert str(mismatch(Empty, caught.value)) == f"{'y' * MAX_STEP_LENGTH} is unknown; known names: none"


def test_a_long_list_of_values_is_cut() -> None:
    assert alternatives(["a"]) == "a"
    assert alternatives([str(number) for number in range(MAX_VALUES)]).count(",") == MAX_VALUES - 2
    assert alternatives([str(number) for number in range(MAX_VALUES + 5)]).endswith("18 or one of 6 others")


def test_a_path_without_a_schema_is_described_as_something_else() -> None:
    assert mismatch(Empty, msgspec.ValidationError("Odd - at `$.nowhere`")).fault == "must be something else"

"""Strict marshmallow fields and schema: each field accepts one JSON type, within bounds.

marshmallow's own `Integer` and `Boolean` accept '5', 5.9, "yes" and Arabic digits, and its `List` checks the length only
after it has read all items. Resources use only the fields of this module; a test checks all schemas.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import marshmallow as ma
from marshmallow import fields, validate

from service.match.characters import CONTROL
from service.match.chosen_text import LONGEST as LONGEST_TEXT
from service.match.chosen_text import fault_of_text
from service.match.names import LONGEST, BadName, parse_name
from service.repository import cursors
from service.repository.strict_json import MAX_INTEGER

T = TypeVar("T")

# Includes lone surrogates, which strict JSON refuses; the reference does not mention them.
_CONTROL: Final = re.compile(rf"[{CONTROL}\ud800-\udfff]")
_NO_CONTROL: Final = f"[^{CONTROL}]"
_VISIBLE: Final = rf"[^{CONTROL} \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_DECIMAL: Final = re.compile(r"0|[1-9][0-9]{0,15}")


_MESSAGES: Final[Mapping[type[fields.Field[Any]], Mapping[str, str]]] = {
    fields.Field: {"required": "Is required.", "null": "Must not be null."},
    fields.String: {"invalid": "Must be a string."},
    fields.Integer: {"invalid": "Must be an integer."},
    fields.Boolean: {"invalid": "Must be true or false."},
    fields.List: {"invalid": "Must be a list."},
    fields.Nested: {"type": "Must be an object."},
}
"""Messages that replace those of marshmallow's classes. A class of this module may have a message of its own."""


def _use_own_messages(field: fields.Field[Any]) -> None:
    """Replace the messages of a field, and of the items of a list, that are still marshmallow's own."""
    for kind, messages in _MESSAGES.items():
        if isinstance(field, kind):
            default = {name: kind.default_error_messages[name] for name in messages}
            own = {name: text for name, text in messages.items() if field.error_messages[name] == default[name]}
            field.error_messages = {**field.error_messages, **own}
    if isinstance(field, fields.List):
        _use_own_messages(field.inner)


class Schema(ma.Schema):
    """A schema that refuses unknown fields."""

    class Meta:
        unknown = ma.RAISE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        names = ", ".join(field.data_key or name for name, field in self.load_fields.items())
        for field in self.load_fields.values():
            _use_own_messages(field)
        known = f"Is unknown; the known ones are {names}."
        self.error_messages = {**self.error_messages, "unknown": known, "type": "Must be a JSON object."}


class Integer(fields.Integer):
    """A JSON integer from `minimum` to `maximum`; no string, no fraction, no boolean."""

    def __init__(self, minimum: int, maximum: int = MAX_INTEGER, **options: Any) -> None:
        super().__init__(strict=True, validate=validate.Range(minimum, maximum), **options)

    def _validated(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.make_error("invalid")
        return value


class Boolean(fields.Boolean):
    """JSON true or false."""

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        del attr, data, kwargs
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class String(fields.String):
    """A string of `shortest` to `longest` characters without control characters; must match `pattern` if it is given.

    `form` says in words what the pattern allows.
    """

    def __init__(
        self,
        longest: int,
        *,
        shortest: int = 0,
        pattern: str | None = None,
        form: str = "of the form that the reference states",
        **options: Any,
    ) -> None:
        checks: list[validate.Validator] = [validate.Length(shortest, longest)]
        metadata = dict(options.pop("metadata", {}))
        if pattern is not None:
            checks.append(validate.Regexp(f"^(?:{pattern})$", error=f"Must be {form}."))
        else:
            metadata["pattern"] = f"^{_NO_CONTROL}*$"
        super().__init__(validate=checks, metadata=metadata, **options)

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if _CONTROL.search(text):
            raise ma.ValidationError("Must not contain control characters.")
        return text


class Name(fields.String):
    """A player's name, normalised by `service.match.names`. The reference has only those rules that a pattern can state."""

    def __init__(self, **options: Any) -> None:
        self._length = validate.Length(1, LONGEST)
        metadata = {"pattern": f"^{_NO_CONTROL}*{_VISIBLE}{_NO_CONTROL}*$"}
        super().__init__(validate=self._length, metadata=metadata, **options)

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        self._length(text)
        try:
            return parse_name(text)
        except BadName as refusal:
            raise ma.ValidationError(str(refusal)) from None


class ChosenText(String):
    """A text that becomes part of a match (`service.match.chosen_text`). The reference has only what a pattern can state."""

    def __init__(self, **options: Any) -> None:
        super().__init__(LONGEST_TEXT, shortest=1, **options)

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        fault = fault_of_text(text)
        if fault is not None:
            raise ma.ValidationError(f"{fault[0].upper()}{fault[1:]}.")
        return text


class Choice(fields.String):
    """One of a few strings."""

    def __init__(self, *choices: str, **options: Any) -> None:
        super().__init__(validate=validate.OneOf(choices), **options)


def _one_or_more(names: Sequence[str]) -> str:
    return f"one or more of {', '.join(names)}, separated by commas"


class Includes(String):
    """A query parameter with names of additional members of the answer, separated by commas."""

    def __init__(self, *names: str, **options: Any) -> None:
        self._names = names
        one = "|".join(names)
        super().__init__(
            2 * len(",".join(names)), pattern=f"(?:{one})(?:,(?:{one}))*", form=_one_or_more(names), **options
        )

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        names: str = super()._deserialize(value, attr, data, **kwargs)
        if not set(names.split(",")) <= set(self._names):
            raise ma.ValidationError(f"Must be {_one_or_more(self._names)}.")
        return names


class List(fields.List[T]):
    """A list of `shortest` to `longest` items. Its length is checked before any item is read.

    `unique`: an item that is there twice is refused.
    """

    default_error_messages = {"repeated": "Must have each item only once."}  # noqa: RUF012  (as marshmallow declares it)

    def __init__(
        self, item: fields.Field[T], longest: int, *, shortest: int = 0, unique: bool = False, **options: Any
    ) -> None:
        self._length, self._unique = validate.Length(shortest, longest), unique
        if unique:
            options["metadata"] = {**options.get("metadata", {}), "uniqueItems": True}
        super().__init__(item, validate=self._length, **options)

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> list[T | None]:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        self._length(value)
        items = super()._deserialize(value, attr, data, **kwargs)
        if self._unique and len(set(items)) < len(items):
            raise self.make_error("repeated")
        return items


class Object(fields.Field[dict[str, Any]]):
    """Any JSON object, bounded by the size of the body. Its content is validated later.

    `component` names its schema in the reference.
    """

    default_error_messages = {"invalid": "Must be a JSON object."}  # noqa: RUF012  (as marshmallow declares it)

    def __init__(self, *, component: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.component = component

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> dict[str, Any]:
        del attr, data, kwargs
        if not isinstance(value, dict):
            raise self.make_error("invalid")
        return value


class DecimalInteger(Integer):
    """An integer in a query parameter: plain ASCII digits, no sign, no leading zero."""

    default_error_messages = {"invalid": "Must be a whole number in plain digits, such as 0 or 25."}  # noqa: RUF012  (as above)

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        if not isinstance(value, str) or _DECIMAL.fullmatch(value) is None:
            raise self.make_error("invalid")
        return super()._deserialize(int(value), attr, data, **kwargs)


class Flag(fields.Boolean):
    """A switch in a query parameter: `true` or `false`."""

    default_error_messages = {"invalid": "Must be true or false."}  # noqa: RUF012  (as above)

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        del attr, data, kwargs
        if value not in ("true", "false"):
            raise self.make_error("invalid", input=value)
        return value == "true"


DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200


class PageSchema(Schema):
    """The query parameters of a list in pages."""

    cursor = String(
        cursors.MAX_LENGTH,
        shortest=1,
        metadata={"description": "`next` of the page before, unchanged; absent for the first page."},
    )
    limit = DecimalInteger(
        1, MAX_LIMIT, load_default=DEFAULT_LIMIT, metadata={"description": "Maximum number of entries in the page."}
    )

"""JSON Schemas of requests and responses, generated from the structs of responses and from the games' own types.

Types in requests (an action, options, and their parts) have their bare name and are closed. Types in responses are open,
so that they can grow, and hidden members are optional. A type that occurs in both has the suffix `Seen` in responses.

A member of a response is required if it is never absent. `api.reference.openapi` states the default of an optional member
in words, since code generators expect a member with a `default` to be always present.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET

from service.views.catalogue import AnyGame, AnyOf, GameInfo

Schema: TypeAlias = dict[str, Any]

PREFIX: Final = "#/components/schemas/"
PATTERN: Final = "Pattern"
"""The component of a pattern, the same for all games. Legal lists may contain it, actions may not."""
_PATTERN_CLASS: Final = AnyOf.__name__
_NO_NUL: Final = r"^[^\u0000]*$"
"""For every string in a request: strict JSON refuses NUL, also in names of members."""


def ref(name: str) -> Schema:
    return {"$ref": PREFIX + name}


def _items(name: str) -> Schema:
    return {"type": "array", "items": ref(name)}


def frame_schema(data: Sequence[Schema], description: str) -> Schema:
    """The schema of a stream of server-sent events, as text or as one event whose `data` is one of these as JSON."""
    written = {"type": "string", "contentMediaType": "application/json", "contentSchema": {"oneOf": list(data)}}
    event = {
        "type": "object",
        "properties": {"event": {"type": "string"}, "id": {"type": "string"}, "data": written},
        "required": ["event", "data"],
    }
    return {"description": description, "anyOf": [{"type": "string"}, event]}


_OPTIONS: Final = {"options": ref("OptionsSeen")}
GAMES_OWN: Final[Mapping[str, Mapping[str, Schema]]] = {
    "MatchSummary": _OPTIONS,
    "OwnMatch": _OPTIONS,
    "MatchCreated": _OPTIONS,
    "MatchView": {
        **_OPTIONS,
        "observation": {"anyOf": [ref("Observation"), {"type": "null"}]},
        "observations": _items("Observation"),
        "legal_actions": _items("ActionSeen"),
    },
    # It is null if a game's own bell ends the decision.
    "SeenDecision": {"on_timeout": {"anyOf": [ref("ActionSeen"), {"type": "null"}]}},
    "LegalActions": {"actions": _items("ActionSeen")},
    "ProblemPage": {"example": ref("Problem")},
    "SeenEffect": {"effect": ref("Effect")},
    "SeenEvent": {"data": {"type": "object"}, "legal_actions": _items("ActionSeen")},
    "StreamHello": {"legal_actions": _items("ActionSeen")},
    "WatchedMatch": {"legal_actions": _items("ActionSeen")},
    "EventPage": {"legal_actions": _items("ActionSeen")},
    "Notice": {"legal_actions": _items("ActionSeen")},
    "Task": {"observation": ref("Observation"), "legal_actions": _items("ActionSeen")},
}
"""Schemas of response fields that no struct describes, such as values of a game's own types."""


def pascal(game: str) -> str:
    return "".join(word.capitalize() for word in game.split("_"))


def _generate(types: Iterable[Any]) -> dict[str, Schema]:
    """Components by class name.

    Raises:
        TypeError: two classes have the same name.
    """
    _, found = msgspec.json.schema_components(types, ref_template=PREFIX + "{name}")
    for name in found:
        if "." in name:
            raise TypeError(f"{name}: another class in the same answer or game has this name")
    return found


def _structs(info: object, found: dict[str, type[msgspec.Struct]]) -> dict[str, type[msgspec.Struct]]:
    """The struct classes in msgspec's type information, by name."""
    inner: Iterable[object] = ()
    match info:
        case msgspec.inspect.StructType(cls=cls):
            if cls.__name__ not in found:
                found[cls.__name__] = cls
                inner = info.fields
        case msgspec.Struct():
            inner = (getattr(info, name) for name in info.__struct_fields__)
        case list() | tuple():
            inner = info
    for one in inner:
        _structs(one, found)
    return found


def _sent_always(cls: type[msgspec.Struct]) -> Iterator[str]:
    """The members that are always in the JSON of a struct, even if its constructor has a default for them."""
    for field in msgspec.structs.fields(cls):
        if field.required or not (cls.__struct_config__.omit_defaults or field.default is UNSET):
            yield field.encode_name


def _generate_sent(types: Sequence[Any]) -> dict[str, Schema]:
    """As `_generate`, for types in responses."""
    found = _generate(types)
    for name, cls in _structs(msgspec.inspect.multi_type_info(types), {}).items():
        members = found[name]["properties"]
        known = {*found[name]["required"], *_sent_always(cls)}
        found[name]["required"] = [member for member in members if member in known]
        for member, schema in members.items():
            if "default" in schema and (member in known or schema["default"] is None):
                del schema["default"]
                if member not in known and "anyOf" in schema:  # absent instead of null
                    schema["anyOf"] = [kind for kind in schema["anyOf"] if kind != {"type": "null"}]
    return found


def _rework(value: Any, rename: Callable[[str], str], *, is_open: bool) -> Any:
    """A generated schema in a form that code generators support, with renamed references and open or closed objects."""
    if isinstance(value, list):
        return [_rework(item, rename, is_open=is_open) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value.get("anyOf", ())) == 1:
        value = {**value, **value["anyOf"][0]}
        del value["anyOf"]
    if "$ref" in value:
        # Nothing beside a reference: generators interpret it differently.
        return ref(rename(value["$ref"].removeprefix(PREFIX)))
    schema: Schema = {}
    for key, inner in value.items():
        match key:
            case "title":
                continue
            case "additionalProperties" if inner is False and is_open:
                continue
            case "description" if isinstance(inner, str):
                schema[key] = "\n\n".join(" ".join(part.split()) for part in inner.split("\n\n"))
            case "anyOf" if "discriminator" in value:
                schema["oneOf"] = _rework(inner, rename, is_open=is_open)
            case "mapping" if "propertyName" in value:
                schema[key] = {tag: PREFIX + rename(to.removeprefix(PREFIX)) for tag, to in inner.items()}
            case "enum" if all(isinstance(choice, str) for choice in inner):
                schema |= {"type": "string", "enum": inner}
            case "properties":
                schema[key] = {name: _rework(field, rename, is_open=is_open) for name, field in inner.items()}
            case "default":
                schema[key] = inner
            case "propertyNames" if not is_open:
                schema[key] = {"type": "string", **inner, "pattern": _NO_NUL}
            case _:
                schema[key] = _rework(inner, rename, is_open=is_open)
    if not is_open and schema.get("type") == "string" and "enum" not in schema:
        schema.setdefault("pattern", _NO_NUL)
    return schema


def union(property_name: str, members: Mapping[str, str]) -> Schema:
    """A union of components with a discriminator property: `members` maps its values to component names."""
    if not members:
        return {"type": "object"}
    return {
        "oneOf": [ref(name) for name in members.values()],
        "discriminator": {
            "propertyName": property_name,
            "mapping": {value: PREFIX + name for value, name in members.items()},
        },
    }


def of_answers(types: Sequence[type[msgspec.Struct]]) -> dict[str, Schema]:
    """The components of responses."""
    components: dict[str, Schema] = {
        name: _rework(schema, str, is_open=True) for name, schema in _generate_sent(types).items()
    }
    for name in GAMES_OWN.keys() & components.keys():
        components[name]["properties"] |= GAMES_OWN[name]
    return components


def _names(info: GameInfo[Any, Any, Any, Any]) -> Mapping[str, str]:
    return {info.observation.__name__: "Observation", info.options.__name__: "Options"}


def of_game(info: GameInfo[Any, Any, Any, Any]) -> dict[str, Schema]:
    """The components of one game, each name beginning with the game's.

    Raises:
        TypeError: two of its types would have the same name, or its observation has no tag with the game's id.
    """
    game, names = pascal(info.id), _names(info)
    sent = _generate((*info.actions, info.options))
    shown = _generate_sent((*info.actions, *info.effects, info.observation, info.options))
    both_ways = {name for name, schema in sent.items() if name in shown and "properties" in schema}
    hidden: dict[str, Iterable[str]] = {cls.__name__: cls.hidden for cls in (*info.actions, *info.effects)}

    def bare(name: str) -> str:
        return PATTERN if name == _PATTERN_CLASS else game + names.get(name, name)

    def seen(name: str) -> str:
        return bare(name) + ("Seen" if name in both_ways and name != _PATTERN_CLASS else "")

    components = {
        bare(name): _rework(_without_patterns(schema), bare, is_open=False)
        for name, schema in sent.items()
        if name != _PATTERN_CLASS
    }
    for name, schema in shown.items():
        component: Schema = _rework(schema, seen, is_open=True)
        if "required" in component:
            component["required"] = [field for field in component["required"] if field not in hidden.get(name, ())]
        components[seen(name)] = component
    unions = {
        f"{game}Action": union("type", {_tag(cls): bare(cls.__name__) for cls in info.actions}),
        f"{game}ActionSeen": union("type", {_tag(cls): seen(cls.__name__) for cls in info.actions}),
        f"{game}Effect": union("type", {_tag(cls): seen(cls.__name__) for cls in info.effects}),
    }
    if taken := sorted(set(unions) & set(components)):
        raise TypeError(f"{info.id}: {', '.join(taken)} is the name of a union of types")
    if components[f"{game}Observation"]["properties"].get("game", {}).get("enum") != [info.id]:
        raise TypeError(f"{info.id}: its observation needs tag_field='game' and tag={info.id!r}")
    return components | unions


def _without_patterns(value: Any) -> Any:
    """A generated schema without patterns, for requests."""
    if isinstance(value, list):
        return [_without_patterns(item) for item in value if item != ref(_PATTERN_CLASS)]
    if not isinstance(value, dict):
        return value
    return {key: _without_patterns(inner) for key, inner in value.items()}


def _tag(cls: type[msgspec.Struct]) -> str:
    tag = cls.__struct_config__.tag
    if not isinstance(tag, str):
        raise TypeError(f"{cls.__name__} has no tag")
    return tag


def of_games(games: Mapping[str, AnyGame]) -> dict[str, Schema]:
    """The components of all games, and the unions over all games: observation, action, effect, options."""
    components = {PATTERN: of_answers([AnyOf])[_PATTERN_CLASS]}
    for game in games.values():
        components |= of_game(game.info)
    any_game = [pascal(game) for game in games]
    components["Observation"] = union("game", {game: f"{pascal(game)}Observation" for game in games})
    for kind in ("Action", "ActionSeen", "Effect", "Options", "OptionsSeen"):
        members = [game + kind for game in any_game]
        if kind == "OptionsSeen":
            # Options have no tag. For readers that take the first match, the schema with most required members is first.
            members.sort(key=lambda name: -len(components[name]["required"]))
        components[kind] = {"anyOf": [ref(name) for name in members]} if members else {"type": "object"}
    for kind in ("Options", "OptionsSeen"):
        own = ", ".join(f"`{pascal(game)}{kind}` where `game` is `{game}`" for game in games)
        components[kind]["description"] = f"The options of one game: {own}." if own else "The options of a game."
    return components

"""The reference is valid OpenAPI 3.1, equals the committed file, and fits the games' actions, effects and observations."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import msgspec
import pytest

from api.app import RESOURCES, create_app
from api.reference import openapi
from api.reference.descriptions import MEANINGS, OF_GAMES
from api.requests import components
from service.games.kit.patterns import AnyOf
from service.games.protocol import GameInfo
from service.games.registry import GAMES
from service.games.visibility import Action, Effect, Private, Public, Secret, redact
from service.match.model import BOT_PACE_MS
from service.repository.accounts import SCOPES
from tests.api import checked
from tests.api.checked import Client, documented, parsed
from tests.api.conftest import Container, small_api

ROOT: Final = Path(__file__).parents[3]


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where
    a stone lies.
    """

    row: int
    column: int = 0


class PlaceStone(Action, frozen=True, tag="place_stone"):
    """Put a stone down."""

    point: Public[Point]
    colour: Private[str]
    note: Public[str | None] = None


class PassTurn(Action, frozen=True, tag="pass_turn"):
    pass


class TakeStones(Action, frozen=True, tag="take_stones"):
    """Take some stones back; a legal list may give the choices as one pattern."""

    stones: Public[tuple[str, ...] | AnyOf]


class StonePlaced(Effect, frozen=True, tag="stone_placed"):
    seat: Public[int]
    point: Public[Point]
    colour: Private[str]
    token: Secret[int]


class View(msgspec.Struct, frozen=True, tag_field="game", tag="toy_stones"):
    """What a viewer knows."""

    stones: tuple[Point, ...]


class StoneOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    size: int = 9


INFO: Final[GameInfo[Any, Any, Any, Any]] = GameInfo(
    id="toy_stones",
    title="Stones",
    ruleset=1,
    seats=(2,),
    options=StoneOptions,
    actions=(PlaceStone, PassTurn, TakeStones),
    effects=(StonePlaced,),
    observation=View,
    breakdown=(),
    simultaneous=False,
)


class FakeGame(msgspec.Struct):
    info: GameInfo[Any, Any, Any, Any]


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    games: Any = {"toy_stones": FakeGame(INFO)}
    return openapi.document((small_api(),), games)


def accepts(reference: dict[str, Any], component: str, value: object) -> bool:
    schema = {"$ref": f"#/components/schemas/{component}", "components": reference["components"]}
    validator = jsonschema_rs.Draft202012Validator(schema)
    return validator.is_valid(msgspec.json.decode(msgspec.json.encode(value)))


def test_the_committed_file_is_what_the_code_generates() -> None:
    document = openapi.document(RESOURCES, GAMES)
    assert (ROOT / "openapi.yaml").read_text(encoding="utf-8") == openapi.render(document)
    assert checked.reference() == document


@pytest.mark.parametrize("is_committed", [True, False])
def test_the_reference_is_valid_openapi(reference: dict[str, Any], is_committed: bool) -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator  # noqa: PLC0415  (not in every test process)

    OpenAPIV31SpecValidator(checked.reference() if is_committed else reference).validate()


def test_a_document_in_yaml_is_read_back_unchanged(reference: dict[str, Any]) -> None:
    assert parsed(openapi.render(reference)) == reference


def test_names_begin_with_the_game(reference: dict[str, Any]) -> None:
    names = set(reference["components"]["schemas"])
    assert {name for name in names if name.startswith("ToyStones")} == {
        "ToyStonesAction",
        "ToyStonesActionSeen",
        "ToyStonesEffect",
        "ToyStonesObservation",
        "ToyStonesOptions",
        "ToyStonesOptionsSeen",
        "ToyStonesPassTurn",
        "ToyStonesPassTurnSeen",
        "ToyStonesPoint",
        "ToyStonesPointSeen",
        "ToyStonesPlaceStone",
        "ToyStonesPlaceStoneSeen",
        "ToyStonesStonePlaced",
        "ToyStonesTakeStones",
        "ToyStonesTakeStonesSeen",
    }
    assert {"Action", "ActionSeen", "Effect", "Observation", "Options", "Problem", "Stone", "AddStone"} <= names


def test_a_union_has_a_required_tag(reference: dict[str, Any]) -> None:
    schemas = reference["components"]["schemas"]
    assert schemas["ToyStonesAction"]["discriminator"]["mapping"] == {
        "place_stone": "#/components/schemas/ToyStonesPlaceStone",
        "pass_turn": "#/components/schemas/ToyStonesPassTurn",
        "take_stones": "#/components/schemas/ToyStonesTakeStones",
    }
    place_stone = schemas["ToyStonesPlaceStone"]
    assert place_stone["properties"]["type"] == {
        "type": "string",
        "enum": ["place_stone"],
        "description": OF_GAMES["type"],
    }
    assert "type" in place_stone["required"]
    assert place_stone["description"] == "Put a stone down."
    assert schemas["ToyStonesPoint"]["description"] == "Where a stone lies."
    assert schemas["Observation"]["discriminator"]["propertyName"] == "game"


ACTION: Final = PlaceStone(Point(1), "red")
PATTERN: Final = AnyOf(("a", "b", "c"), 1, 2)
EFFECT: Final = StonePlaced(0, Point(1), "red", 5)


@pytest.mark.parametrize(
    ("component", "value", "is_valid"),
    [
        ("Action", ACTION, True),
        ("Action", PassTurn(), True),
        ("Action", {"type": "place_stone", "point": {"row": 1}}, False),
        ("Action", {**msgspec.to_builtins(ACTION), "extra": 1}, False),
        ("Action", {**msgspec.to_builtins(ACTION), "point": {"row": 1, "extra": 1}}, False),
        ("Action", {**msgspec.to_builtins(ACTION), "type": "resign"}, False),
        ("Action", TakeStones(("a", "b")), True),
        ("Action", TakeStones(PATTERN), False),
        ("ActionSeen", TakeStones(PATTERN), True),
        ("ActionSeen", TakeStones(("a",)), True),
        ("Pattern", PATTERN, True),
        ("Pattern", {"any_of": ["a"]}, False),
        ("ActionSeen", redact(ACTION, None, 0), True),
        ("ActionSeen", {**msgspec.to_builtins(ACTION), "extra": 1, "point": {"row": 1, "column": 0, "extra": 1}}, True),
        ("ActionSeen", {**msgspec.to_builtins(ACTION), "point": {"row": 1}}, False),
        ("Action", {**msgspec.to_builtins(ACTION), "point": {"row": 1}}, True),
        ("ActionSeen", {"type": "place_stone"}, False),
        ("Effect", EFFECT, True),
        ("Effect", redact(EFFECT, None), True),
        ("Effect", redact(EFFECT, 0), True),
        ("Effect", {"type": "stone_placed", "seat": 1}, False),
        ("Observation", View((Point(1, 2),)), True),
        ("Observation", {"stones": []}, False),
        ("Observation", {"game": "chess", "stones": []}, False),
        ("Options", {}, True),
        ("Options", {"size": 9, "komi": 6}, False),
        ("OptionsSeen", {"size": 9, "komi": 6}, True),
        ("OptionsSeen", {}, False),
    ],
)
def test_the_schemas_accept_exactly_what_the_service_accepts_and_sends(
    reference: dict[str, Any], component: str, value: object, is_valid: bool
) -> None:
    assert accepts(reference, component, value) is is_valid


def test_a_body_s_free_objects_point_at_their_components(reference: dict[str, Any]) -> None:
    add_stone = reference["components"]["schemas"]["AddStone"]
    assert add_stone["properties"]["where"] == {"$ref": "#/components/schemas/Action"}
    assert add_stone["additionalProperties"] is False
    name = dict(add_stone["properties"]["name"])
    assert re.search(name.pop("pattern"), "a b")
    assert name == {"type": "string", "minLength": 1, "maxLength": 20, "description": MEANINGS["name"]}
    assert add_stone["properties"]["weight"] == {"type": "integer", "minimum": 0, "maximum": 100}


def test_a_reference_has_no_sibling_keys(reference: dict[str, Any]) -> None:
    def references(value: object) -> list[dict[str, object]]:
        match value:
            case dict():
                own = [value] if "$ref" in value else []
                return own + [found for inner in value.values() for found in references(inner)]
            case list():
                return [found for inner in value for found in references(inner)]
        return []

    assert references(reference)
    assert all(len(found) == 1 for found in references(reference))


def test_every_operation_names_its_problems(reference: dict[str, Any]) -> None:
    post = reference["paths"]["/v1/stones"]["post"]["responses"]
    assert set(post) == {"201", "400", "401", "403", "408", "409", "413", "415", "422", "429", "503", "default"}
    assert post["403"]["description"] == "`scope-missing`"
    assert post["401"]["description"] == "`token-missing`, `token-invalid`"
    assert set(post["409"]["content"]) == {"application/problem+json"}


def test_the_reference_has_every_route_of_the_app_and_no_other() -> None:
    app = create_app(Container())
    served = {
        (documented(rule), method.lower())
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if not rule.endpoint.startswith(("docs.", "web."))
    }
    paths = openapi.document(RESOURCES, GAMES)["paths"]
    assert {(path, method) for path, methods in paths.items() for method in methods if method != "parameters"} == served


def test_every_operation_has_a_name_and_a_summary_and_documents_its_authentication() -> None:
    paths = openapi.document(RESOURCES, GAMES)["paths"]
    operations = [one for methods in paths.values() for method, one in methods.items() if method != "parameters"]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", name) for name in names)
    assert all(operation["summary"] for operation in operations)
    for operation in operations:
        wanted = operation.get("security", [])
        by_ticket = any("ticket" in one for one in wanted)
        scopes = {scope for one in wanted for scope in (*one.get("bearer", ()), *one.get("ticket", ()))}
        assert [list(one) for one in wanted if "ticket" not in one] in ([], [["bearer"]], [["bearer"], []])
        assert scopes <= set(SCOPES)
        for scope in scopes:
            assert f"the scope `{scope}`" in operation["description"]
        assert bool(scopes) == ("`scope-missing`" in operation["responses"].get("403", {}).get("description", ""))
        codes = operation["responses"]["401"]["description"]
        assert ("`token-missing`" in codes) == (wanted != [] and {} not in wanted)
        assert ("`ticket-invalid`" in codes) == by_ticket


def test_defaults_are_in_descriptions_and_not_in_schemas(reference: dict[str, Any]) -> None:
    """Code generators expect a member with a default to be always present."""
    described = openapi.document(RESOURCES, GAMES)["components"]["schemas"]
    members = [inner for schema in described.values() for inner in schema.get("properties", {}).values()]
    assert members
    assert [inner for inner in members if "default" in inner] == []
    own = reference["components"]["schemas"]
    assert own["ToyStonesOptions"]["properties"]["size"] == {"type": "integer", "description": "Default: `9`."}
    assert own["ToyStonesOptionsSeen"]["properties"]["size"] == {"type": "integer"}
    descriptions = [described["NewMatch"]["properties"][name]["description"] for name in ("bots", "private")]
    assert [one.rpartition(". ")[2] for one in descriptions] == ["Default: `[]`.", "Default: `false`."]


def test_members_that_are_always_sent_are_required_and_optional_ones_are_never_null() -> None:
    described = openapi.document(RESOURCES, GAMES)["components"]["schemas"]
    assert described["CheckResult"]["required"] == ["check", "result", "version", "detail"]
    assert described["FieldError"]["required"] == ["detail"]
    assert described["FieldError"]["properties"]["pointer"]["type"] == "string"
    assert "errors" not in described["Problem"]["required"]
    for name, schema in described.items():
        if name.endswith("OptionsSeen") and "properties" in schema:
            assert schema["required"] == list(schema["properties"])


def test_every_member_of_an_answer_has_a_schema() -> None:
    described = openapi.document(RESOURCES, GAMES)["components"]["schemas"]
    blank = [
        f"{name}.{member}"
        for name, schema in described.items()
        for member, inner in schema.get("properties", {}).items()
        if inner == {}
    ]
    assert blank == []


def test_an_observation_without_its_game_is_refused() -> None:
    with pytest.raises(TypeError, match="needs tag_field='game'"):
        components.of_game(replace(INFO, observation=Point))


def operations() -> list[tuple[str, str]]:
    """Methods and paths of the reference, with `x` for each parameter."""
    return [
        (verb.upper(), re.sub(r"{.*?}", "x", path))
        for path, verbs in checked.reference()["paths"].items()
        for verb in sorted(verbs.keys() & {"get", "post", "delete"})
    ]


@cache
def caller() -> tuple[Client, str]:
    """A client and the token of a player, for requests that change nothing."""
    client = Client()
    return client, client.sign_up()


@pytest.mark.parametrize(("method", "path"), operations())
def test_the_reference_has_the_problems_that_all_operations_of_a_method_share(method: str, path: str) -> None:
    """The client checks each problem against the reference."""
    client, token = caller()
    refused = [client.send(method, f"{path}?oddity=1", token=token)]
    if method == "POST":
        refused += [
            client.send(method, path, token=token, data=b"[]"),
            client.send(method, path, token=token, data=b"{}", headers={"Content-Type": "text/plain"}),
            client.send(method, path, token=token, data=b"{}", headers={"Transfer-Encoding": "gzip"}),
            client.send(method, path, token=token, data=b" " * 20_000),
        ]
    assert [answer.status_code for answer in refused] == [400, 422, 415, 400, 413][: len(refused)]


def test_the_reference_states_the_default_pace_of_bots() -> None:
    assert f" {BOT_PACE_MS} " in MEANINGS["bot_pace_ms"]

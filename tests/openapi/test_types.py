"""The TypeScript types that openapi-typescript generates from the reference: client programs and answers fit them.

The compiler also finds members of answers that the reference does not name, which a JSON Schema allows.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from service.adapters.memory import local_ports
from service.automation.bot_turns import advance
from service.automation.deadlines import enforce
from service.games.registry import GAMES
from tests.api.checked import Client, reference
from tests.api.conftest import Container
from tests.api.two_seats import unlimited
from tests.length import LONG
from tests.openapi.examples import NOW
from tests.openapi.tools import HERE, REFERENCE, run

EXPECTED_ERROR: Final = re.compile(r"// @ts-expect-error:")
EMPTY: Final = {"ApeTownOptions", "ApeTownOptionsSeen", "MatchResumed"}
"""Components that have no members."""
OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "four_monkeys": {"family": True, "banana_skins": True, "round_seconds": 30},
    "monkeys_on_the_moon": {"treachery": True, "maximum_scorn": True},
    "monsters_on_the_moon": {"walls": True, "missions": "secret"},
}
MAX_READS: Final = 5000
"""Maximum number of reads of a match; a match needs far fewer."""


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("types") / "moonstone.d.ts"
    done = run("openapi-typescript/bin/cli.js", str(REFERENCE), "-o", str(made))
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def errors(types: Path) -> dict[str, list[str]]:
    """The errors of each program, as `<line> <code>`. All are compiled at once, because each run reads all types anew."""
    player, client = ((HERE / f"{name}.ts").read_text(encoding="utf-8") for name in ("player", "client"))
    programs = {
        "player": player,
        "wrong_player": player.replace('"bid"', '"bit"'),
        "client": client,
        "wrong_client": EXPECTED_ERROR.sub("//", client),
        "examples": program_of(examples()),
        **{game: program_of(answers_of_match(game)) for game in GAMES},
    }
    paths = {name: types.parent / f"{name}.ts" for name in programs}
    for name, program in programs.items():
        paths[name].write_text(program, encoding="utf-8")
    options = ("--noEmit", "--strict", "--skipDefaultLibCheck", "--target", "es2022", "--pretty", "false")
    done = run("typescript/bin/tsc", *options, *map(str, paths.values()))
    found: dict[str, list[str]] = {name: [] for name in programs}
    for name, line, code in re.findall(r"(\w+)\.ts\((\d+),\d+\): error (TS\d+)", done.stdout):
        found[name].append(f"{line} {code}")
    return found


def test_a_correct_program_compiles_and_a_wrong_one_does_not(errors: dict[str, list[str]]) -> None:
    assert errors["player"] == []
    assert errors["wrong_player"] != []


def test_ordinary_client_code_compiles_and_mistakes_in_it_do_not(errors: dict[str, list[str]]) -> None:
    lines = (HERE / "client.ts").read_text(encoding="utf-8").splitlines()
    mistakes = [number for number, line in enumerate(lines, 2) if EXPECTED_ERROR.search(line)]
    assert errors["client"] == []
    found = errors["wrong_client"]
    assert [int(line.split()[0]) for line in found] == mistakes
    # Wrong types, missing and unknown members, and values that may be undefined; no syntax errors.
    assert {line.split()[1] for line in found} == {"TS2322", "TS2741", "TS2353", "TS2339", "TS18048"}


def test_only_components_without_members_are_empty_objects(types: Path) -> None:
    text = types.read_text(encoding="utf-8")
    assert set(re.findall(r"(\w+): Record<string, never>", text)) == EMPTY
    assert text.count("Record<string, never>") == len(EMPTY) + len(["$defs"])


def program_of(constants: Iterator[tuple[str, object]]) -> str:
    """A program of typed constants."""
    lines = ['import type { components, paths } from "./moonstone";', 'type Schemas = components["schemas"];']
    for number, (type_, value) in enumerate(constants):
        lines.append(f"export const c{number}: {type_} = {msgspec.json.encode(value).decode()};")
    return "\n".join(lines)


def examples() -> Iterator[tuple[str, object]]:
    for path, methods in reference()["paths"].items():
        for method, operation in methods.items():
            for status, response in operation["responses"].items() if method != "parameters" else ():
                for media_type, content in response.get("content", {}).items():
                    keys = (path, method, "responses", status, "content", media_type)
                    for example in (one for one in content["examples"].values() if "value" in one):
                        yield "paths" + "".join(f'["{key}"]' for key in keys), example["value"]
    for example in reference()["components"]["examples"].values():
        yield 'Schemas["Problem"]', example["value"]


def test_every_example_has_its_type(errors: dict[str, list[str]]) -> None:
    assert len([*examples()]) > len(reference()["paths"])
    assert errors["examples"] == []


def answers_of_match(game: str) -> Iterator[tuple[str, object]]:
    """Types and answers about a match between bots until its end, for a seat, and in the long form also for a spectator."""
    times = itertools.count(NOW, 500)
    container = Container(unlimited(), None)
    ports = container.ports = local_ports(GAMES, lambda: next(times), wake=container.feed.wake)
    client = Client(container, unchecked=True)
    token = client.sign_up()
    wanted = {"game": game, "seats": 2, "bots": ["greedy", "random"], "options": OPTIONS.get(game, {})}
    match = f"/v1/matches/{client.do('/v1/matches', wanted, token)['id']}"
    for _ in range(MAX_READS):
        if client.ask(match)["status"] == "finished":
            break
        advance(ports, match.rpartition("/")[2], moves=1)
        enforce(ports, match.rpartition("/")[2])
    last = client.ask(match)["version"]
    yield 'Schemas["GamePage"]', client.ask(f"/v1/games/{game}")
    yield 'Schemas["Audit"]', client.ask(f"{match}/audit")
    for version in range(2, last, last // (10 if LONG else 4)):
        seen = client.ask(f"{match}?include=legal_actions,texts&viewer=0&version={version}")
        # One constant for each: a long list of different literals is too complex for the compiler.
        yield from (('Schemas["ActionSeen"]', action) for action in seen.pop("legal_actions")[:3])
        yield 'Schemas["MatchView"]', seen
    for viewer in ("viewer=0&include=texts&", "") if LONG else ("viewer=0&include=texts&",):
        events = client.ask(f"{match}/events?{viewer}limit=500")["events"]
        for event in events:
            if effects := event["data"].get("effects"):
                yield from (('Schemas["Effect"]', effect) for effect in effects)
                event["data"]["effects"] = []
            yield 'Schemas["SeenEvent"]', event


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
def test_all_answers_about_a_match_have_their_types(errors: dict[str, list[str]], game: str) -> None:
    assert errors[game] == []

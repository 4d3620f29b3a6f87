"""The client that openapi-python-client generates passes type checks, and plays whole matches of every game."""

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import httpx
import msgspec
import pytest

from api.app import create_app
from api.requests.components import pascal
from service.automation.deadlines import enforce
from service.games.registry import GAMES
from service.match.due_times import KINDS
from tests.api.checked import reference
from tests.api.conftest import Container
from tests.api.two_seats import unlimited
from tests.length import LONG
from tests.openapi.tools import BUILD, HERE
from tests.service.arena import Arena

PACKAGE: Final = "moonstone_client"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the generated package and of the player that uses it."""
    made = tmp_path_factory.mktemp("client")
    document = made / "openapi.json"  # the generator needs seconds to parse YAML
    document.write_bytes(msgspec.json.encode(reference()))
    config = made / "config.yaml"
    config.write_text("post_hooks: []\n")
    arguments = (
        "--path",
        str(document),
        "--output-path",
        str(made / PACKAGE),
        "--meta",
        "none",
        "--config",
        str(config),
    )
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # The generator does not know the media types of NDJSON files and of pictures.
    ignored = ("/board.svg", "/export", "/me/export", "/ratings")
    assert (done.stdout + done.stderr).count("WARNING") == len(ignored)
    assert "application/x-ndjson" in done.stdout + done.stderr
    (made / "player.py").write_text((HERE / "player.py").read_text(encoding="utf-8"), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def player(folder: Path) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(folder))
        yield importlib.import_module("player")
    for name in [name for name in sys.modules if name.partition(".")[0] in {"player", PACKAGE}]:
        del sys.modules[name]


@pytest.mark.skipif(not LONG, reason="takes half a minute; the short form uses the client to play")
@pytest.mark.long
def test_the_client_and_a_program_that_uses_it_type_check(folder: Path) -> None:
    config = folder / "mypy.ini"
    # The generated client.py passes *args to httpx, and follow_own_matches reads a stream as one object; neither
    # type-checks, whatever the reference contains.
    config.write_text(
        f"[mypy]\nstrict = true\n[mypy-{PACKAGE}.client,{PACKAGE}.api.mine.follow_own_matches]\n"
        "disable_error_code = arg-type\n"
    )
    checked = ("-p", PACKAGE, "-m", "player")
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), "--cache-dir", str(BUILD / "mypy"), *checked]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout


class HostedGames(Arena):
    """A service with every game, whose time advances when a player waits."""

    def __init__(self) -> None:
        super().__init__(*GAMES.values())
        self.app = create_app(Container(unlimited(), self.ports))

    def pass_time(self, match_id: str) -> None:
        """Run the workers, and advance the clock to the next due time."""
        self.work(match_id)
        match = self.match(match_id)
        mine = [one.opens_at for one in match.decisions() if one.seat == len(match.seats) - 1]
        if any(opens_at <= self.time for opens_at in mine):
            self.time += 500
        else:
            self.time = max(self.time, min([*mine, self.log.next_due(KINDS) or self.time]))
        enforce(self.ports, match_id)
        self.work(match_id)


def chooser(seed: int) -> Callable[[int], int]:
    """A function that returns pseudo-random indexes, the same ones in every run."""
    state = seed

    def choose(length: int) -> int:
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % length

    return choose


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES if LONG else ["ape_town"])
def test_the_client_plays_whole_matches(player: Any, game: str) -> None:
    """With the fewest seats; in the long form matches of all games, also with the most seats."""
    service = HostedGames()
    service.wait(1)
    transport = httpx.WSGITransport(app=service.app)
    client_class = importlib.import_module(PACKAGE).Client
    stranger = player.join(
        client_class(base_url="http://moonstone", httpx_args={"transport": transport}), transport=transport
    )
    seats = sorted(GAMES[game].info.seats)
    for number, count in enumerate({seats[0], seats[-1]} if LONG else seats[:1]):
        assert player.play(stranger, game, max(2, count), chooser(number), service.pass_time) > 0
        service.wait(1)
    for match in player.matches(stranger):
        seen, checks = player.read_finished(stranger, match)
        assert (seen, service.match(match).status) == (service.version(match), "finished")
        assert "outcome" in checks
        assert type(player.look(stranger, match).options).__name__ == f"{pascal(game)}OptionsSeen"

"""Every game has golden playthroughs, and replaying them gives the same lines."""

from itertools import zip_longest

import msgspec
import pytest

from service.audit.match_file import export
from service.audit.verify import CHECKS, verify
from service.games.registry import GAMES
from tests.playthroughs.record import FOLDER, Case, cases, path, played, record

ALL = [(game, case) for game in GAMES for case in cases(game)]
MAX_BYTES = 150_000


@pytest.mark.parametrize(("game", "case"), ALL, ids=lambda part: part if isinstance(part, str) else part.name)
def test_a_playthrough_passes_every_check_and_equals_its_golden_file(game: str, case: Case) -> None:
    ports, match = played(game, case)
    assert verify(export(ports, match), GAMES).checks == CHECKS
    golden = path(game, case).read_text(encoding="utf-8")
    assert len(golden.encode()) <= MAX_BYTES, "too long for a reviewer: choose a shorter match"
    lines = zip_longest(record(game, case, ports, match).splitlines(), golden.splitlines())
    for number, (now, then) in enumerate(lines, 1):
        assert now == then, (
            f"line {number} of {path(game, case).name}; if this change of the rules is intended, run: make playthroughs"
        )


@pytest.mark.parametrize("game", GAMES)
def test_every_seat_count_and_every_option_has_a_playthrough(game: str) -> None:
    info = GAMES[game].info
    assert {len(case.bots) for case in cases(game)} == set(info.seats)
    with_case = {option for case in cases(game) for option in case.options}
    assert with_case == {field.name for field in msgspec.structs.fields(info.options)}


@pytest.mark.parametrize("game", GAMES)
def test_the_folder_has_no_file_without_a_case(game: str) -> None:
    names = {path(game, case).name for case in cases(game)} | {"cases.json"}
    assert {found.name for found in (FOLDER / game).iterdir()} == names

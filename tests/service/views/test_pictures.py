"""Pictures of a match before the start, during play, and at the end."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from service.games.drawing.changes import CHANGED
from service.games.drawing.svg import ART, CLASS
from service.games.registry import GAMES
from service.games.visibility import Viewer
from service.match.model import Match
from service.repository.code_hash import code_hash
from service.views import pictures
from tests.service.arena import Arena, refused


def picture(arena: Arena, match: Match, viewer: Viewer = None, language: str = "en", *, highlight: bool = False) -> str:
    return pictures.board(arena.ports.history, match, viewer, language, highlight=highlight)


def description(drawn: str) -> str:
    return ET.fromstring(drawn).findtext("{http://www.w3.org/2000/svg}desc") or ""


def changed(drawn: str) -> set[str]:
    marked = [one for one in ET.fromstring(drawn).iter() if f"{CLASS}{CHANGED}" in one.get("class", "").split()]
    return {one.get("id", "") for one in marked}


def test_before_the_start_a_picture_shows_which_seats_are_taken() -> None:
    arena = Arena()
    match_id = arena.create("toy", 3, manual_start=True)
    arena.join(match_id, "ada")
    drawn = picture(arena, arena.match(match_id))
    assert description(drawn) == "Waiting for players: 1 of 3 seats are taken."
    assert re.findall(">(taken|free)<", drawn) == ["taken", "free", "free"]
    assert "ada" not in drawn, "a name can be erased later, but not from pictures that clients have stored"
    arena.join(match_id, "ben", "cid")
    assert description(picture(arena, arena.match(match_id), 1, "de")).startswith("Alle Plätze sind besetzt")
    arena.leave(match_id, "host")
    left = arena.create("toy", 2)
    arena.leave(left, "host")
    assert description(picture(arena, arena.match(left))) == "The match was aborted before it started."


def test_nothing_is_marked_as_changed_before_the_first_move() -> None:
    arena = Arena()
    match_id = arena.join(arena.create("toy", 2), "ada")
    assert changed(picture(arena, arena.match(match_id), highlight=True)) == set()
    arena.join(match_id, "ben")
    assert changed(picture(arena, arena.match(match_id), highlight=True)) == set(), "all of it is new"


@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_each_viewer_sees_its_own_hand_and_changed_parts_are_marked(viewer: Viewer) -> None:
    arena = Arena()
    table = arena.opened("ada", "ben")
    match = arena.match(table)
    hands = [hand for seat, hand in enumerate(match.state.hands) if seat == viewer]
    assert set(re.findall('data-card="([^"]+)"', picture(arena, match, viewer))) == {
        card for hand in hands for card in hand
    }
    arena.act(table, "ada")
    found = changed(picture(arena, arena.match(table), viewer, highlight=True))
    assert found == {"seat-0-hand"}
    assert changed(picture(arena, arena.match(table), viewer)) == set()


def test_the_end_shows_the_outcome() -> None:
    arena = Arena()
    match = arena.play_out(arena.monkeys(bots=("random", "greedy")))
    assert match.outcome is not None
    drawn = picture(arena, match)
    assert all(f">{score}<" in drawn for score in match.outcome.scores)
    assert "The match is over. Won by" in description(drawn)


def test_any_version_can_be_drawn_again_and_is_the_same() -> None:
    arena = Arena()
    table = arena.opened("ada", "ben")
    known = []
    for _ in range(3):
        known.append((arena.version(table), picture(arena, arena.match(table), 0, highlight=True)))
        arena.act(table, "ada")
        arena.act(table, "ben")
        arena.wait(1_000)
    for version, drawn in known:
        assert picture(arena, arena.ports.history.at(table, version), 0, highlight=True) == drawn


def test_every_seat_is_drawn_below_the_other_with_ids_of_its_own() -> None:
    arena = Arena()
    table = arena.opened("ada", "ben")
    going = arena.match(table)
    refused("not-your-seat", pictures.every_seat, arena.ports.history, going)
    arena.play_out(table)
    viewers = pictures.every_seat(arena.ports.history, going)
    assert viewers == (0, 1)
    drawn = pictures.board(arena.ports.history, going, viewers, "en", highlight=True)
    alone = [picture(arena, going, seat, highlight=True) for seat in viewers]
    assert re.findall('data-card="[^"]+"', drawn) == [
        card for one in alone for card in re.findall('data-card="[^"]+"', one)
    ]
    names = [one.get("id", "") for one in ET.fromstring(drawn).iter() if one.get("id")]
    assert len(names) == len(set(names))
    ids = [[f"view-{seat}-{name}" for name in own_ids(one)] for seat, one in enumerate(alone)]
    assert own_ids(drawn) == ["view-0", *ids[0], "view-1", *ids[1]]
    assert description(drawn) == "\n".join(map(description, alone))
    heights = [int(ET.fromstring(one).get("height", "")) for one in (drawn, *alone)]
    assert heights[0] == sum(heights[1:])


def test_the_only_seat_of_a_match_has_the_same_ids_as_a_seat_of_several() -> None:
    arena = Arena(GAMES["monsters_on_the_moon"])
    match = arena.play_out(arena.create("monsters_on_the_moon", 1, bots=("random",)))
    drawn = pictures.board(
        arena.ports.history, match, pictures.every_seat(arena.ports.history, match), "en", highlight=False
    )
    assert own_ids(drawn) == ["view-0", *[f"view-0-{name}" for name in own_ids(picture(arena, match, 0))]]


def own_ids(drawn: str) -> list[str]:
    """The ids of a picture, without those of reusable drawings."""
    names = [one.get("id", "") for one in ET.fromstring(drawn).iter()]
    return [name for name in names if name and not name.startswith(ART)]


def test_the_revision_names_the_code_that_draws() -> None:
    assert re.fullmatch("[0-9a-f]{8}", pictures.REVISION)
    assert pictures._revision() == pictures.REVISION


def test_the_revision_depends_on_the_code_and_the_style_that_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pictures._revision() == pictures.REVISION
    read = Path.read_bytes
    monkeypatch.setattr(pictures, "code_hash", code_hash.__wrapped__)
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + (b" " if path.name == "style.css" else b""))
    assert pictures._revision() != pictures.REVISION

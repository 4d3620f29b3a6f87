"""The observation that a client of Monsters on the Moon keeps by folding effects."""

from collections.abc import Sequence
from typing import Any

from service.games.visibility import Effect, Viewer
from tests.service.games.following import Following, Json

NO_TURN = {"card": None, "ship": False, "drew": False, "plates": 0, "walls": 0}


class Follower(Following):
    """Squares and pieces are kept sorted row by row, because observations list them so."""

    def __init__(self, viewer: Viewer) -> None:
        super().__init__(viewer)
        self._top: dict[tuple[int, int], Json] = {}
        self._pieces: dict[str, dict[tuple[int, int], int]] = {"ships": {}, "plates": {}}

    def follow(self, effects: Sequence[Effect]) -> None:
        super().follow(effects)
        by_row = sorted(self._top, key=lambda position: position[::-1])
        self.table["display"] = [self._top[position] for position in by_row]
        for kind, pieces in self._pieces.items():
            self.table[kind] = [
                {"x": x, "y": y, "seat": pieces[x, y]} for x, y in sorted(pieces, key=lambda position: position[::-1])
            ]

    def _table_set(
        self,
        *,
        options: Json,
        turn_order: list[int],
        monsters: list[str],
        ships_each: int,
        plates_each: int,
        crystal_track: list[int],
        red_fields: list[int],
    ) -> None:
        assert len(red_fields) == plates_each
        self.table = {
            "game": "monsters_on_the_moon",
            "options": options,
            "step": None,
            "awaited": None,
            "active": turn_order[0],
            "turn": NO_TURN.copy(),
            "decider": None,
            "pile": 0,
            "laid": [],
            "walls": [],
            "areas": [],
            "open_missions": [],
            "rating": None,
            "seats": [
                {
                    "monster": monster,
                    "hand_count": 0,
                    "hand": [] if seat == self._viewer else None,
                    "gift_chosen": False,
                    "gift": None,
                    "ships": ships_each,
                    "field": 0,
                    "crystals": crystal_track[0] if crystal_track else 0,
                    "plates": plates_each,
                    "plates_lost": 0,
                    "long_walls": 0,
                    "short_walls": 0,
                    "interim_singles": 0,
                    "interim_groups": 0,
                    "mission_count": 0,
                    "missions": [] if seat == self._viewer else None,
                    "mission_chosen": False,
                    "mission": None,
                }
                for seat, monster in enumerate(monsters)
            ],
        }

    def _walls_taken(self, long_each: int, short_each: int) -> None:
        for held in self.table["seats"]:
            held.update({"long_walls": long_each, "short_walls": short_each})

    def _pile_shuffled(self, size: int) -> None:
        self.table["pile"] = size

    def _start_cards_taken(self, seat: int, cards: list[str]) -> None:
        for card in cards:
            self._take(seat, card)

    def _take(self, seat: int, card: str | None) -> None:
        self._seat(seat)["hand_count"] += 1
        if seat == self._viewer:
            assert card
            self._seat(seat)["hand"].append(card)

    def _drop(self, seat: int, card: str | None) -> None:
        self._seat(seat)["hand_count"] -= 1
        if seat == self._viewer:
            self._seat(seat)["hand"].remove(card)

    def _missions_dealt(self, seat: int, count: int, missions: list[int] | None = None) -> None:
        self._seat(seat)["mission_count"] = count
        if missions is not None:
            self._seat(seat)["missions"] = missions

    def _missions_opened(self, missions: list[int]) -> None:
        self.table["open_missions"] = missions

    def _gift_chosen(self, seat: int, card: str | None = None) -> None:
        self._drop(seat, card)
        self._seat(seat).update({"gift_chosen": True, "gift": card})

    def _card_given(self, seat: int, to: int, card: str | None = None) -> None:
        self._take(to, card)
        self._seat(seat)["gift"] = card

    def _card_drawn(self, seat: int, clause: str, card: str | None = None) -> None:
        assert clause
        self.table["pile"] -= 1
        self.table["turn"]["drew"] = True
        self._take(seat, card)

    def _start_card_placed(self, *, from_pile: bool, squares: list[Json], **laid: object) -> None:
        self.table["pile"] -= from_pile
        self._lay(squares, {**laid, "seat": None})

    def _card_placed(self, *, squares: list[Json], covered: list[Json], **laid: Any) -> None:
        before = {(square["x"], square["y"]) for square in squares} & set(self._top)
        assert [self._top[square["x"], square["y"]] for square in covered] == covered
        assert len(covered) == len(before)
        for square in covered:
            self._pieces["plates"].pop((square["x"], square["y"]), None)
        self._drop(laid["seat"], laid["card"])
        self.table["turn"]["card"] = laid["card"]
        self._lay(squares, laid)

    def _lay(self, squares: list[Json], laid: Json) -> None:
        assert len(squares) == 6
        self._top |= {(square["x"], square["y"]): square for square in squares}
        self.table["laid"].append(laid)

    def _marker_moved(
        self, *, seat: int, crystals: int, from_field: int, to_field: int, points: int, clause: str
    ) -> None:
        assert clause
        assert crystals >= to_field - from_field
        assert self._seat(seat)["field"] == from_field
        self._seat(seat).update({"field": to_field, "crystals": points})

    def _plate_taken(self, seat: int, field: int) -> None:
        assert self._seat(seat)["field"] >= field
        self._seat(seat)["plates"] -= 1
        self.table["turn"]["plates"] += 1

    def _plate_placed(self, seat: int, x: int, y: int, shows: str) -> None:
        assert self._seat(seat)["monster"] == shows
        self._top[x, y] = self._top[x, y] | {"shows": shows, "heads": 1}
        self._pieces["plates"][x, y] = seat
        self.table["turn"]["plates"] -= 1

    def _plate_lost(self, seat: int) -> None:
        self._seat(seat)["plates_lost"] += 1
        self.table["turn"]["plates"] -= 1

    def _spaceship_placed(self, seat: int, x: int, y: int) -> None:
        assert self._top[x, y]["shows"] == "crystal"
        self._pieces["ships"][x, y] = seat
        self._seat(seat)["ships"] -= 1
        self.table["turn"]["ship"] = True

    def _wall_placed(self, **wall: Any) -> None:
        self._seat(wall["seat"])["short_walls" if wall["length"] == 1 else "long_walls"] -= 1
        self.table["walls"].append(wall)
        self.table["turn"]["walls"] += 1

    def _area_enclosed(self, squares: list[Json]) -> None:
        self.table["areas"].append(squares)

    def _points_scored(self, seat: int, points: int, part: str, clause: str, factor: int = 1) -> None:
        assert (clause, factor) in {("MON-30", 1), ("MON-66", 2)}
        assert points % factor == 0
        self._seat(seat)[part] += points

    def _decider_named(self, seat: int, by: str) -> None:
        assert by
        self.table["decider"] = seat

    def _turn_opened(self, seat: int) -> None:
        self.table |= {"active": seat, "turn": NO_TURN.copy()}

    def _decision_opened(self, seat: int | None, step: str) -> None:
        self.table |= {"awaited": seat, "step": step}

    def _first_chosen(self, seat: int, first: int) -> None:
        assert self.table["decider"] == seat
        assert self._seat(first)
        self.table["decider"] = None

    def _mission_chosen(self, seat: int, mission: int | None = None) -> None:
        self._seat(seat).update({"mission_chosen": True, "mission": mission})

    def _mission_revealed(self, seat: int, mission: int, points: int) -> None:
        assert points >= 0
        self._seat(seat)["mission"] = mission

    def _solo_rated(self, points: int, rank: int) -> None:
        self.table["rating"] = {"points": points, "rank": rank}

    def _match_ended(self) -> None:
        self.table |= {"step": None, "awaited": None}

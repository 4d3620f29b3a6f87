"""The observation that a client of Ape Town keeps by folding effects."""

from tests.service.games.following import Following


class Follower(Following):
    def _table_set(self, turn_order: list[int], money_each: int, discs_each: int) -> None:
        points = {"placement": 0, "boss": 0, "neighbours": 0}
        self.table = {
            "game": "ape_town",
            "active": turn_order[0],
            "step": None,
            "seats": [{"money": money_each, "discs": discs_each, **points} for _ in turn_order],
            "display": [],
            "turned_up": [],
            "taken": None,
            "board": {},
            "discs": {},
        }

    def _tiles_shuffled(self, at_segments: int, in_supply: int) -> None:
        self.table |= {
            "face_down": list(range(at_segments)),
            "track_money": [0] * at_segments,
            "supply": in_supply,
        }

    def _section_revealed(self, section: int, segments: list[int], tiles: list[str]) -> None:
        for segment, tile in zip(segments, tiles, strict=True):
            self.table["face_down"].remove(segment)
            self.table["display"].append({"segment": segment, "tile": tile})
        self.table["turned_up"].append(section)

    def _section_refilled(self, section: int, segments: list[int]) -> None:
        self.table["face_down"] = sorted(self.table["face_down"] + segments)
        self.table["supply"] -= len(segments)
        if section in self.table["turned_up"]:
            self.table["turned_up"].remove(section)

    def _decision_opened(self, seat: int, step: str) -> None:
        self.table |= {"active": seat, "step": step}

    def _money_paid(self, seat: int, segments: list[int]) -> None:
        self._seat(seat)["money"] -= len(segments)
        for segment in segments:
            self.table["track_money"][segment] += 1

    def _tile_taken(self, *, seat: int, **taken: object) -> None:
        assert self.table["active"] == seat
        self.table["display"].remove({"segment": taken["segment"], "tile": taken["tile"]})
        self.table["taken"] = taken

    def _money_taken(self, seat: int, segment: int, count: int) -> None:
        assert self.table["track_money"][segment] == count
        self.table["track_money"][segment] = 0
        self._seat(seat)["money"] += count

    def _tile_placed(self, seat: int, field: str, tile: str) -> None:
        assert self.table["active"] == seat
        assert self.table["taken"]["tile"] == tile
        self.table["board"][field] = tile
        self.table["taken"] = None

    def _disc_placed(self, seat: int, field: str) -> None:
        self.table["discs"][field] = seat
        self._seat(seat)["discs"] -= 1

    def _points_scored(self, seat: int, points: int, part: str, clause: str) -> None:
        assert clause
        self._seat(seat)[part] += points

    def _district_completed(self, district: str, lemurs: int) -> None:
        """Nothing to fold: the board already shows it, as it does for the reasons of the following points."""

    def _boss_found(self, district: str, seat: int, by: str, points: int) -> None: ...

    def _boss_missing(self, district: str) -> None: ...

    def _neighbour_inferior(self, **_reason: object) -> None: ...

    def _match_ended(self) -> None:
        self.table["step"] = None

"""The observation that a client of 4 Monkeys keeps by folding effects."""

from tests.service.games.following import Following, Json


class Follower(Following):
    def _area_of(self, seat: int) -> Json:
        """The area in which the seat sits."""
        return next(area for area in self.table["areas"] if seat in area["seats"])

    def _table_set(self, seating: list[int], rounds: int, **options: object) -> None:
        self.table = {
            "game": "four_monkeys",
            "options": options,
            "seating": seating,
            "rounds": rounds,
            "round": 0,
            "seats": [{"points": [], "false_stops": 0, "stops_in_round": 0} for _ in seating],
            "smartest": [],
            "checking": None,
            "checks": [],
        }

    def _round_opened(
        self,
        *,
        round: int,  # noqa: A002  (the effect's field)
        areas: list[list[int]],
        colours: list[str],
        starts_at: int,
    ) -> None:
        again = round == self.table["round"]
        options = self.table["options"]
        self.table |= {
            "round": round,
            "phase": "play",
            "starts_at": starts_at,
            "deadline": starts_at + options["round_seconds"] * 1000 if options["timer_visible"] else None,
            "areas": [{"seats": seats, "stacks": [], "stacks_made": 0} for seats in areas],
        }
        for seat, held in enumerate(self.table["seats"]):
            own = seat == self._viewer
            held |= {
                "colour": colours[seat],
                "deck": 0,
                "hand_count": 0,
                "hand": [] if own else None,
                "discard_count": 0,
                "discards": [] if own else None,
                "tiles": [],
                "repeated": [],
                "wrong": [],
                "replenish_used": False,
                "own_skin": options["banana_skins"],
                "received_skins": 0,
                "just_grabbed": False,
                "stops_in_round": held["stops_in_round"] if again else 0,
            }

    def _deck_shuffled(self, seat: int, size: int) -> None:
        self._seat(seat)["deck"] = size

    def _combos_stacked(self, area: int, tops: list[str], sizes: list[int]) -> None:
        stacks = [{"stack": n, "top": top, "size": size} for n, (top, size) in enumerate(zip(tops, sizes, strict=True))]
        self.table["areas"][area] |= {"stacks": stacks, "stacks_made": len(stacks)}

    def _cards_drawn(self, seat: int, deck: int, count: int, cards: list[str] | None = None) -> None:
        self._seat(deck)["deck"] -= count
        self._seat(seat)["hand_count"] += count
        if cards is not None:
            self._seat(seat)["hand"] += cards

    def _uncover(self, seat: int, stack: int, combo: str, uncovered: str | None) -> None:
        area = self._area_of(seat)
        found = next(each for each in area["stacks"] if each["stack"] == stack)
        assert found["top"] == combo
        found |= {"top": uncovered, "size": found["size"] - 1}
        if uncovered is None:
            area["stacks"].remove(found)

    def _tile_grabbed(
        self,
        *,
        seat: int,
        stack: int,
        combo: str,
        count: int,
        uncovered: str | None,
        cards: list[str] | None = None,
    ) -> None:
        self._uncover(seat, stack, combo, uncovered)
        held = self._seat(seat)
        held["hand_count"] -= count
        held["just_grabbed"] = True
        held["tiles"].append({"combo": combo, "burned": False, "card_count": count, "cards": cards, "checked": False})
        for card in cards or ():
            held["hand"].remove(card)

    def _tile_burned(self, seat: int, combo: str) -> None:
        held = self._seat(seat)
        held["just_grabbed"] = False
        next(tile for tile in held["tiles"] if tile["combo"] == combo)["burned"] = True

    def _replenish_used(self, seat: int, mode: str) -> None:
        assert mode in {"redraw", "extra"}
        self._seat(seat).update(replenish_used=True, just_grabbed=False)

    def _hand_discarded(self, seat: int, count: int) -> None:
        held = self._seat(seat)
        assert held["hand_count"] == count
        held["discard_count"] += count
        held["hand_count"] = 0
        if held["hand"] is not None:
            held["discards"] += held["hand"]
            held["hand"] = []

    def _tile_revealed(self, seat: int, stack: int, combo: str, uncovered: str) -> None:
        self._uncover(seat, stack, combo, uncovered)
        area = self._area_of(seat)
        area["stacks"].append({"stack": area["stacks_made"], "top": combo, "size": 1})
        area["stacks_made"] += 1
        self._seat(seat)["just_grabbed"] = False

    def _banana_handed(self, seat: int, to: int, skin: str) -> None:
        held = self._seat(seat)
        held["just_grabbed"] = False
        if skin == "own":
            held["own_skin"] = False
        else:
            held["received_skins"] -= 1
        self._seat(to)["received_skins"] += 1

    def _stop_called(self, seat: int, different: int) -> None:
        assert different >= 0
        self._seat(seat)["just_grabbed"] = False

    def _false_stop_charged(self, seat: int, points: int) -> None:
        assert points == -10
        self._seat(seat)["false_stops"] += 1
        self._seat(seat)["stops_in_round"] += 1

    def _round_ended(self, round: int, ending: str) -> None:  # noqa: A002  (as above)
        assert self.table["round"] == round
        assert ending in {"stop", "deadline"}
        self.table |= {"phase": "scoring", "smartest": [], "checks": []}
        for seat, held in enumerate(self.table["seats"]):
            held["just_grabbed"] = False
            self._hand_discarded(seat, held["hand_count"])

    def _repeated_set_aside(self, seat: int, combos: list[str]) -> None:
        held = self._seat(seat)
        held["repeated"] = [tile for tile in held["tiles"] if tile["combo"] in combos]
        held["tiles"] = [tile for tile in held["tiles"] if tile["combo"] not in combos]

    def _smartest_named(self, seats: list[int]) -> None:
        self.table["smartest"] = seats

    def _check_opened(self, seat: int, combos: list[str], opens_at: int) -> None:
        assert len(combos) > 1
        deadline = opens_at + 20_000 if self.table["options"]["timer_visible"] else None
        self.table["checking"] = {"seat": seat, "opens_at": opens_at, "deadline": deadline}

    def _combo_checked(self, seat: int, combo: str, cards: list[str], correct: bool) -> None:
        self.table["checking"] = None
        self.table["checks"].append({"seat": seat, "combo": combo, "cards": cards, "correct": correct})
        held = self._seat(seat)
        tile = next(tile for tile in held["tiles"] if tile["combo"] == combo)
        tile |= {"cards": cards, "checked": True}
        if not correct:
            held["tiles"].remove(tile)
            held["wrong"].append(tile)

    def _round_scored(
        self, *, seat: int, tiles: int, set_aside: int, skins: int, smartest: int, points: int, clause: str
    ) -> None:
        assert points == tiles + set_aside + skins + smartest
        assert clause in {"FOU-23", "FOU-33"}
        self._seat(seat)["points"].append(points)

    def _match_ended(self) -> None:
        self.table["phase"] = "over"

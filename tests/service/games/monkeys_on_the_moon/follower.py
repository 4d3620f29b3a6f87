"""The observation that a client of Monkeys on the Moon keeps by folding effects."""

from tests.service.games.following import Following


class Follower(Following):
    def _table_set(
        self,
        *,
        turn_order: list[int],
        alliance_circle: list[str],
        coins_each: int,
        supply_each: int,
        rounds: int,
        maximum_scorn: bool,
        treachery: bool,
    ) -> None:
        tribes = sorted(alliance_circle)
        self.table = {
            "game": "monkeys_on_the_moon",
            "options": {"maximum_scorn": maximum_scorn, "treachery": treachery},
            "round": 0,
            "rounds": rounds,
            "turn_order": turn_order,
            "turn": "civilization",
            "active": turn_order[0],
            "awaited": None,
            "alliance_circle": alliance_circle,
            "cards_swapped": False,
            "tribes": {
                tribe: {"space": 0, "rank": None, "supply": supply_each, "scorn_holder": None} for tribe in tribes
            },
            "advanced": None,
            "seats": [
                {
                    "hand_count": 0,
                    "hand": [] if seat == self._viewer else None,
                    "coin_count": coins_each * len(tribes),
                    "coins": dict.fromkeys(tribes, coins_each) if seat == self._viewer else None,
                    "ship": None,
                    "aboard": [],
                    "launched": [],
                    "full_ships": [],
                }
                for seat in sorted(turn_order)
            ],
            "auction": None,
            "boarding": [],
            "monkey_deck": 0,
            "civilization_deck": 0,
            "ship_deck": 0,
            "civilization_removed": 0,
            "ships_under_deck": [],
            **{f"{kind}_pool": [] for kind in ("monkey", "ship")},
            **{f"{kind}_discard": [] for kind in ("monkey", "civilization", "ship")},
        }

    def _deck_shuffled(self, deck: str, size: int) -> None:
        self.table[f"{deck}_deck"] = size

    def _civilization_removed(self, count: int) -> None:
        self.table["civilization_deck"] -= count
        self.table["civilization_removed"] = count

    def _civilization_dealt(self, seat: int, card: str | None = None) -> None:
        self.table["civilization_deck"] -= 1
        self._seat(seat)["hand_count"] += 1
        if card is not None:
            self._seat(seat)["hand"].append(card)

    def _monkeys_revealed(self, cards: list[str]) -> None:
        self.table["monkey_deck"] -= len(cards)
        self.table["monkey_pool"] += cards

    def _ship_assigned(self, seat: int, ship: str) -> None:
        self.table["ship_deck"] -= 1
        self._seat(seat)["ship"] = ship

    def _ships_revealed(self, ships: list[str]) -> None:
        for ship in ships:
            if self.table["ship_deck"]:
                self.table["ship_deck"] -= 1
            else:
                self.table["ships_under_deck"].pop(0)
            self.table["ship_pool"].append(ship)

    def _round_opened(self, **shown: int) -> None:
        self.table |= shown

    def _turn_opened(self, seat: int, turn: str) -> None:
        self.table |= {"active": seat, "turn": turn}

    def _decision_opened(self, **awaited: object) -> None:
        self.table["awaited"] = awaited

    def _civilization_played(self, seat: int, card: str, tribe: str) -> None:
        held = self._seat(seat)
        held["hand_count"] -= 1
        if held["hand"] is not None:
            held["hand"].remove(card)
        self.table["civilization_discard"].append(card)
        self.table["advanced"] = tribe

    def _coins_taken(self, seat: int, tribe: str, count: int, clause: str) -> None:
        assert clause
        held = self._seat(seat)
        held["coin_count"] += count
        if held["coins"] is not None:
            held["coins"][tribe] += count
        self.table["tribes"][tribe]["supply"] -= count

    def _coins_paid(self, seat: int, tribe: str, count: int, clause: str) -> None:
        self._coins_taken(seat, tribe, -count, clause)

    def _scorn_taken(self, seat: int, tribe: str, from_seat: int | None, clause: str) -> None:
        assert clause
        assert self.table["tribes"][tribe]["scorn_holder"] == from_seat
        self.table["tribes"][tribe]["scorn_holder"] = seat

    def _scorn_returned(self, seat: int, tribe: str, clause: str) -> None:
        assert clause
        assert self.table["tribes"][tribe]["scorn_holder"] == seat
        self.table["tribes"][tribe]["scorn_holder"] = None

    def _stone_moved(self, tribe: str, from_space: int, to_space: int) -> None:
        assert self.table["tribes"][tribe]["space"] == from_space
        self.table["tribes"][tribe]["space"] = to_space

    def _stone_finished(self, tribe: str, rank: int) -> None:
        self.table["tribes"][tribe]["rank"] = rank

    def _tribe_cards_swapped(self, tribe: str, ally: str, alliance_circle: list[str]) -> None:
        before = self.table["alliance_circle"]
        assert before[alliance_circle.index(tribe)] == ally
        self.table |= {"alliance_circle": alliance_circle, "cards_swapped": True}

    def _bid_turn_skipped(self, seat: int) -> None:
        assert self.table["active"] == seat

    def _auction_opened(self, seat: int, monkey: str) -> None:
        assert self.table["active"] == seat
        self.table["monkey_pool"].remove(monkey)
        seats = list(range(len(self.table["seats"])))
        self.table["auction"] = {"monkey": monkey, "still_in": seats, "bidder": None, "coins": {}, "points": 0}

    def _bid_made(self, seat: int, coins: dict[str, int], points: int) -> None:
        self.table["auction"] |= {"bidder": seat, "coins": coins, "points": points}

    def _bid_passed(self, seat: int) -> None:
        self.table["auction"]["still_in"].remove(seat)

    def _auction_won(self, seat: int, monkey: str, points: int) -> None:
        assert (self.table["auction"]["bidder"], self.table["auction"]["points"]) == (seat, points)
        self.table["auction"] = None
        self.table["boarding"].append(monkey)

    def _monkey_discarded(self, monkey: str) -> None:
        self.table["auction"] = None
        self.table["monkey_discard"].append(monkey)

    def _monkey_boarded(self, seat: int, monkey: str) -> None:
        self.table["boarding"].remove(monkey)
        self._seat(seat)["aboard"].append(monkey)

    def _monkeys_left_behind(self, seat: int, tribe: str, monkeys: list[str]) -> None:
        assert tribe
        self.table["boarding"] += monkeys
        for monkey in monkeys:
            self._seat(seat)["aboard"].remove(monkey)

    def _ship_launched(
        self, *, seat: int, ship: str, monkeys: list[str], ship_goes: str, points: int, clause: str
    ) -> None:
        assert clause
        assert bool(points) == (ship_goes == "score_pile")
        held = self._seat(seat)
        held["launched"] += monkeys
        held |= {"ship": None, "aboard": []}
        pile = {
            "score_pile": held["full_ships"],
            "under_deck": self.table["ships_under_deck"],
            "discard": self.table["ship_discard"],
        }
        pile[ship_goes].append(ship)

    def _waiting_monkeys_launched(self, seat: int, monkeys: list[str], clause: str) -> None:
        assert clause
        self._seat(seat)["launched"] += monkeys
        self._seat(seat)["aboard"] = []

    _monkey_kept_waiting = _monkey_boarded

    def _ship_chosen(self, seat: int, ship: str) -> None:
        self.table["ship_pool"].remove(ship)
        self._seat(seat)["ship"] = ship

    def _moonstone_passed(self, turn_order: list[int]) -> None:
        self.table["turn_order"] = turn_order

    def _match_ended(self) -> None:
        self.table["awaited"] = None

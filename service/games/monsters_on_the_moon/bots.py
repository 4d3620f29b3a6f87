"""A bot that looks one action ahead, and plans one area to enclose.

It uses only its task. Values are in hundredths of a point.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from service.games.monsters_on_the_moon.actions import (
    AnyAction,
    ChooseFirst,
    ChooseMission,
    EndTurn,
    GiveCard,
    PlaceCard,
    PlacePlate,
    PlaceSpaceship,
    PlaceWall,
)
from service.games.monsters_on_the_moon.areas import enclosed_areas
from service.games.monsters_on_the_moon.components import BOX, CardId, Kind, Monster, right_of
from service.games.monsters_on_the_moon.edges import cells_beside, open_steps, span_at
from service.games.monsters_on_the_moon.grid import STEPS, Cell, Rotation, cell_at, is_portrait, shape
from service.games.monsters_on_the_moon.groups import groups
from service.games.monsters_on_the_moon.missions import points
from service.games.monsters_on_the_moon.squares import Square
from service.games.monsters_on_the_moon.view import Observation
from service.games.monsters_on_the_moon.wall_plans import Situation, best_plan
from service.games.monsters_on_the_moon.walls import MAX_WALLS, MIN_WALLS
from service.games.protocol import Rng, Task
from service.games.visibility import Seat

MoonTask: TypeAlias = Task[AnyAction, Observation]

HEAD: Final = 100
"""The value of a head. A neighbouring head adds the same value again."""
LARGEST: Final = 200
"""The additional value of a head beside the largest group, in matches without walls."""
CRYSTAL: Final = 90
"""The value of one field on the crystal track."""
WALL: Final = 100
"""The value of keeping a wall. The bot lays walls instead of a card only if their area is worth more than the walls."""


class HeadValue(NamedTuple):
    """The value of a head for a seat, and its additional value beside another head or beside the largest group."""

    head: int
    beside: int
    largest: int


class CardValue(NamedTuple):
    """The value of a rotated card at any position, and its squares that are worth more on some cells.

    Each square is given as the step from the card's corner, its heads, and the additional value of one head by cell.
    """

    value: int
    squares: tuple[tuple[int, int, Mapping[Cell, int]], ...]


def greedy(task: MoonTask, _rng: Rng) -> AnyAction:
    """The action of the highest value, or the first of several. Spaceships wait until the card is laid."""
    evaluator = Evaluator(task.observation, task.seat)
    cards = [action for action in task.legal_actions if isinstance(action, PlaceCard)]
    walls = [action for action in task.legal_actions if isinstance(action, PlaceWall)]
    planned = evaluator.planned_wall(walls, least=WALL if cards else 0) if walls else None
    if planned is not None:
        return planned
    if cards:
        return max(cards, key=evaluator.value_of_card)
    if walls and EndTurn() not in task.legal_actions:
        return max(walls, key=evaluator.value_of_wall)
    return max(task.legal_actions, key=evaluator.value_of)


class Evaluator:
    """Rates actions by the value of each square of the display for one seat."""

    def __init__(self, seen: Observation, seat: Seat) -> None:
        self._seat = seat
        self._monsters: list[Monster] = [held.monster for held in seen.seats]
        self._display = {cell_at(at.x, at.y): Square(at.card, at.shows, at.heads) for at in seen.display}
        self._head_values = _head_values(self._monsters, seat, 0 if seen.options.walls else LARGEST)
        self._seen = seen
        spans = [span_at(wall.x, wall.y, wall.orientation, wall.length) for wall in seen.walls]
        self._crossings = frozenset([span.crossing for span in spans if span.crossing is not None])
        self._walled = frozenset([edge for span in spans for edge in span.edges])
        # the enclosed areas if the turn ended now
        self._areas = frozenset([cell for area in enclosed_areas(self._walled) for cell in area])
        collects = len(self._monsters) > 1
        self._cover_values = {
            cell: CRYSTAL for cell, one in self._display.items() if collects and one.shows == "crystal"
        }
        """The value of covering a cell."""
        self._empty = {cell: CRYSTAL for cell, one in self._display.items() if one.shows == "empty"}
        self._bonuses: dict[Kind, dict[Cell, int]] = {}
        """The additional value of a head of a kind on a cell, because of its neighbours."""
        for kind, head_value in self._head_values.items():
            self._bonuses[kind] = self._bonuses_of(kind, head_value)
        self._covered_values: dict[tuple[int, int, bool], int] = {}
        self._card_values: dict[tuple[CardId, Rotation], CardValue] = {}

    def _bonuses_of(self, kind: Kind, head_value: HeadValue) -> dict[Cell, int]:
        found = groups(self._display, kind, self._walled)
        largest = max([group.heads for group in found], default=0)
        more: dict[Cell, int] = {}
        for group in found:
            single = len(group.cells) == 1 and group.heads < 2
            beside = head_value.beside + (head_value.largest if group.heads == largest else 0)
            factor = 2 if group.cells[0] in self._areas else 1
            value = factor * (head_value.head + (0 if single else beside))
            for cell in group.cells:
                self._cover_values[cell] = -value * max(1, self._display[cell].heads)
                # a single neighbour then has a neighbour too
                gain = factor * (beside + (head_value.beside if single else 0))
                more.update([(cell + step, gain) for step in open_steps(cell, self._walled)])
        return more

    def value_of(self, action: AnyAction) -> int:
        """The value of any action except laying a card or a wall."""
        match action:
            case GiveCard():
                return self._value_of_gift(action.card)
            case PlaceSpaceship():
                # A spaceship is better than none, and best where it protects the seat's own heads.
                return 1 + sum([self._head_value_at(cell_at(action.x, action.y) + step) for step in STEPS])
            case PlacePlate():
                cell = cell_at(action.x, action.y)
                return self._cover_values.get(cell, 0) + self._bonuses[self._monsters[self._seat]].get(cell, 0)
            case ChooseFirst():
                # going last is an advantage
                return (self._seat - action.seat) % len(self._monsters)
            case ChooseMission():
                return points(self._display, self._monsters, self._seat, action.mission, self._walled)
            case _:
                return 0

    def _value_of_gift(self, card: CardId) -> int:
        """Prefers a card with few of the seat's own heads and few of the receiver's."""
        own, other = self._monsters[self._seat], self._monsters[right_of(self._seat, len(self._monsters))]
        heads = {kind: sum(face.heads for face in BOX.faces[card, 0] if face.kind == kind) for kind in (own, other)}
        return -2 * heads[own] - heads[other]

    def _head_value_at(self, cell: Cell) -> int:
        square = self._display.get(cell)
        head_value = self._head_values.get(square.shows) if square else None
        return head_value.head if head_value else 0

    def planned_wall(self, walls: list[PlaceWall], least: int) -> PlaceWall | None:
        """The first legal wall of the best area that can be enclosed in this turn.

        None if an area would be worth too little for each wall.
        """
        laid = self._seen.turn.walls
        held = self._seen.seats[self._seat]
        head_values = {kind: head_value.head for kind, head_value in self._head_values.items()}
        situation = Situation(
            self._display, self._walled, self._areas, self._crossings, held.long_walls, held.short_walls, head_values
        )
        plan = best_plan(situation, MAX_WALLS - laid)
        if plan is None or (laid == 0 and plan.value <= least * max(len(plan.walls), MIN_WALLS)):
            return None
        legal = {span_at(wall.x, wall.y, wall.orientation, wall.length): wall for wall in walls}
        return next((legal[span] for span in plan.walls if span in legal), None)

    def value_of_wall(self, action: PlaceWall) -> int:
        """A wall separates neighbouring heads of a kind, which should be those of other seats."""
        value = 0
        for edge in span_at(action.x, action.y, action.orientation, action.length).edges:
            here, there = [self._display.get(cell) for cell in cells_beside(edge)]
            if here is not None and there is not None and here.shows == there.shows and here.shows in self._head_values:
                value -= self._head_values[here.shows].beside
        return value

    def value_of_card(self, action: PlaceCard) -> int:
        """The value of the squares that the card covers, its heads, and its crystals on empty squares."""
        corner = cell_at(action.x, action.y)
        portrait = is_portrait(action.rotation)
        position = (action.x, action.y, portrait)
        total = self._covered_values.get(position)
        if total is None:
            total = sum([self._cover_values.get(corner + step, 0) for step in shape(portrait=portrait)])
            self._covered_values[position] = total
        card_value = self._card_values.get((action.card, action.rotation)) or self._card_value(
            action.card, action.rotation
        )
        for step, heads, more in card_value.squares:
            total += heads * more.get(corner + step, 0)
        return total + card_value.value

    def _card_value(self, card: CardId, rotation: Rotation) -> CardValue:
        value = 0
        squares: list[tuple[int, int, Mapping[Cell, int]]] = []
        for step, face in zip(shape(portrait=is_portrait(rotation)), BOX.faces[card, rotation], strict=True):
            head_value = self._head_values.get(face.kind)
            if head_value is not None:
                heads = max(1, face.heads)
                value += heads * (head_value.head + (head_value.beside if heads > 1 else 0))
                squares.append((step, heads, self._bonuses[face.kind]))
            elif face.kind == "crystal":
                squares.append((step, 1, self._empty))
        self._card_values[card, rotation] = CardValue(value, tuple(squares))
        return self._card_values[card, rotation]


def _head_values(monsters: list[Monster], seat: Seat, largest: int) -> dict[Kind, HeadValue]:
    """The seat's own heads have positive values, those of other seats negative ones.

    A single player wants vampires and crystals beside each other, and no other monsters.
    """
    if len(monsters) == 1:
        wanted, unwanted = HeadValue(HEAD // 5, HEAD, 0), HeadValue(-HEAD, 0, 0)
        return {"vampire": wanted, "crystal": wanted, "witch": unwanted, "werewolf": unwanted}
    others = len(monsters) - 1
    head_values: dict[Kind, HeadValue] = {
        monster: HeadValue(-HEAD // others, -HEAD // others, -largest // others) for monster in monsters
    }
    head_values[monsters[seat]] = HeadValue(HEAD, HEAD, largest)
    return head_values

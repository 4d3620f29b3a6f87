"""The games that this service hosts. A new game adds one line."""

from collections.abc import Mapping

from service.games.ape_town.game import GAME as APE_TOWN
from service.games.four_monkeys.game import GAME as FOUR_MONKEYS
from service.games.monkeys_on_the_moon.game import GAME as MONKEYS_ON_THE_MOON
from service.games.monsters_on_the_moon.game import GAME as MONSTERS_ON_THE_MOON
from service.games.protocol import AnyGame

_ALL: tuple[AnyGame, ...] = (APE_TOWN, FOUR_MONKEYS, MONKEYS_ON_THE_MOON, MONSTERS_ON_THE_MOON)

GAMES: Mapping[str, AnyGame] = {game.info.id: game for game in _ALL}

"""The laws of values that every game must obey: fold, codec, pieces, outcome, options and texts."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from string import Formatter
from typing import Any, Final

import msgspec

from service.errors import Refused
from service.games.kit.patterns import AnyOf
from service.games.protocol import BadOptions, Ring, fold
from service.games.visibility import Action
from service.match.rulings import parse_action
from tests.length import LONG
from tests.service.games.matches import (
    Table,
    absent_match,
    draws,
    key,
    positions,
    random_match,
    refusals,
    spread,
)

LANGUAGES = ("en", "de")
MAX_INTEGER = 2**53 - 1
"""The largest integer that every JSON parser reads exactly."""

encode = msgspec.json.encode


def law_apply_is_pure(table: Table) -> None:
    match = random_match(table)
    for start, effects in [(None, match.opening), *((ply.before, ply.effects) for ply in match.plies)]:
        state = start
        for effect in effects:
            before = encode((state, effect))
            after = table.game.apply(state, effect)
            stored = encode(after)
            assert encode(table.game.apply(state, effect)) == stored, "apply is not deterministic"
            assert encode((state, effect)) == before, "apply changed its arguments"
            state = after


def law_a_snapshot_and_the_later_effects_give_the_last_state(table: Table) -> None:
    """The state at any version, stored and read again, and the later effects give the last state."""
    match = random_match(table)
    last_state = encode(match.states[-1])
    decode = msgspec.json.Decoder(table.game.state).decode
    for k in spread(range(len(match.states)), 12):
        rest = (effect for ply in match.plies[k:] for effect in ply.effects)
        assert encode(fold(table.game, decode(encode(match.states[k])), rest)) == last_state


def law_values_survive_their_codec(table: Table) -> None:
    """As strict JSON, without fractions and large integers, which the canonical form excludes."""
    game, match = table.game, random_match(table)
    info = game.info
    viewers, found = (None, *range(table.seats)), positions(table, 20 if LONG else 10)
    values: tuple[tuple[Any, Any], ...] = (
        (game.state, match.states if LONG else spread(match.states, 60)),
        (reduce(or_, info.effects), match.effects),
        (info.observation, [game.observation(each.state, viewer) for each in found for viewer in viewers]),
        (info.options, [game.options(table.seats, table.options)]),
    )
    for kind, items in values:
        decode = msgspec.json.Decoder(kind, strict=True).decode
        for value in items:
            stored = encode(value)
            assert decode(stored) == value
            assert encode(decode(stored)) == stored
            for number in _numbers(json.loads(stored)):
                assert isinstance(number, int), "a fraction"
                assert abs(number) <= MAX_INTEGER


def law_listed_actions_can_be_sent(table: Table) -> None:
    """The parser accepts each entry of a legal list, and the smallest and largest choice of each pattern."""
    game = table.game
    assert Ring not in game.info.actions, "ringing the timer is not an action of a seat"
    for position in positions(table, 20 if LONG else 8):
        for seat in range(table.seats):
            for entry in game.legal_actions(position.state, seat):
                for action in (entry, *_extremes(entry)):
                    sent = msgspec.to_builtins(action)
                    try:
                        read = parse_action(game, sent)
                    except Refused as refusal:
                        raise AssertionError(f"{sent} is listed and cannot be sent: {refusal.detail}") from None
                    assert msgspec.to_builtins(read) == sent


def _extremes(entry: Action) -> Iterator[Action]:
    """The action with the fewest and with the most items that its pattern allows. Nothing if it has no pattern."""
    for name in entry.__struct_fields__:
        pattern = getattr(entry, name)
        if isinstance(pattern, AnyOf):
            for size in (pattern.min, pattern.max):
                yield msgspec.structs.replace(entry, **{name: pattern.any_of[:size]})


def _numbers(value: object) -> Iterator[int | float]:
    match value:
        case dict():
            for item in value.values():
                yield from _numbers(item)
        case list():
            for item in value:
                yield from _numbers(item)
        case int() | float():
            yield value


def law_pieces_are_conserved(table: Table) -> None:
    """Every card, coin and tile exists exactly once, in states and in sampled states."""
    game, match = table.game, random_match(table)
    pieces = table.pieces(match.start)
    assert pieces.total() > 0
    for state in match.states:
        assert table.pieces(state) == pieces
    for position in positions(table, 10):
        for viewer in (None, *range(table.seats)):
            imagined = game.sample_state(game.observation(position.state, viewer), draws("imagine"))
            assert table.pieces(imagined) == pieces, "a sampled state"


def law_the_outcome_ranks_all_seats(table: Table) -> None:
    """A score is the sum of its breakdown. Ranks follow scores and skip after shared ranks. Rank 1 wins."""
    game, end = table.game, positions(table, 2)[-1]
    outcome = game.score(end.state, draws(key(table), end.counts))
    assert game.score(end.state, draws(key(table), end.counts)) == outcome, "score is not deterministic"
    assert len(outcome.ranks) == len(outcome.breakdown) == table.seats
    assert outcome.scores == tuple(sum(parts.values()) for parts in outcome.breakdown)
    for parts in outcome.breakdown:
        assert tuple(parts) == tuple(name for name in game.info.breakdown if name in outcome.breakdown[0])
    ranked = sorted(zip(outcome.ranks, outcome.scores, strict=True))
    assert [score for _, score in ranked] == sorted(outcome.scores, reverse=True), "more points, a worse rank"
    assert outcome.ranks == tuple(1 + sum(other < rank for other in outcome.ranks) for rank in outcome.ranks)
    assert outcome.winners == tuple(seat for seat in range(table.seats) if outcome.ranks[seat] == 1)


def law_matches_do_not_depend_on_hash_seeds(table: Table) -> None:
    """Processes with different PYTHONHASHSEEDs play the same matches byte for byte."""
    assert_independent_of_hash_seeds([table])


def assert_independent_of_hash_seeds(tables: Sequence[Table]) -> None:
    """The law above for many tables. Starting its processes takes longer than most matches."""
    command = (sys.executable, "-m", "tests.service.games.digests", *(table.name for table in tables))
    root = Path(__file__).parents[3]
    one, other = (
        subprocess.run(
            command, stdout=subprocess.PIPE, cwd=root, env={**os.environ, "PYTHONHASHSEED": seed}, check=True
        )
        for seed in ("1", "2")
    )
    differing = [
        table.name
        for table, here, there in zip(tables, json.loads(one.stdout), json.loads(other.stdout), strict=True)
        if here != there
    ]
    assert differing == []


def law_options_are_strict(table: Table) -> None:
    """Options survive their JSON form. Unknown options and unsupported numbers of seats are refused."""
    game = table.game
    options = game.options(table.seats, table.options)
    assert isinstance(options, game.info.options)
    assert game.options(table.seats, msgspec.to_builtins(options)) == options
    assert table.seats in game.info.seats
    assert _refuses_options(table, table.seats, {**table.options, "no_such_option": 1})
    assert _refuses_options(table, max(game.info.seats) + 1, {})


def _refuses_options(table: Table, seats: int, given: Mapping[str, object]) -> bool:
    try:
        table.game.options(seats, given)
    except BadOptions:
        return True
    return False


def law_texts_are_complete_in_every_language(table: Table) -> None:
    """Each effect, action, step and refusal has a text in each language, with the same placeholders, which can all be
    filled.
    """
    info, texts = table.game.info, table.game.texts
    fields = {f"effect.{_tag(kind)}": kind.__struct_encode_fields__ for kind in info.effects}
    fields |= {f"action.{_tag(kind)}": kind.__struct_encode_fields__ for kind in info.actions}
    for match in (random_match(table), absent_match(table)):
        fields |= {f"step.{one.step}": () for state in match.states for one in table.game.decisions(state)}
    for name, known in fields.items():
        used = [
            {field for _, field, _, _ in Formatter().parse(texts[language][name]) if field} for language in LANGUAGES
        ]
        assert used[0] == used[1], f"{name}: different placeholders"
        assert used[0] <= set(known), f"{name}: no field for {used[0] - set(known)}"
    for refusal in refusals(table):
        for language in LANGUAGES:
            assert texts[language][f"refusal.{refusal.code}"].format(**refusal.facts)
    assert set(texts) == set(LANGUAGES)
    assert set(texts["en"]) == set(texts["de"])


def _tag(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)


LAWS: Final[tuple[Callable[[Table], None], ...]] = (
    law_apply_is_pure,
    law_a_snapshot_and_the_later_effects_give_the_last_state,
    law_values_survive_their_codec,
    law_listed_actions_can_be_sent,
    law_pieces_are_conserved,
    law_the_outcome_ranks_all_seats,
    law_matches_do_not_depend_on_hash_seeds,
    law_options_are_strict,
    law_texts_are_complete_in_every_language,
)

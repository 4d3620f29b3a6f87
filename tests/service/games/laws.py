"""The laws of play that every game must obey. A law is a function that takes a table and fails with an AssertionError.

More laws are in `laws_of_values`, `laws_of_sight` and `laws_of_pictures`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from service.games.kit.patterns import AnyOf, hint_fields, is_listed
from service.games.protocol import CLOCK, Move, Ring, Rng, Task
from service.games.visibility import Action
from tests.length import LONG
from tests.service.games.matches import (
    Position,
    Refusal,
    Table,
    absent_match,
    deciding,
    distinct,
    draws,
    in_time,
    key,
    opening,
    pool,
    positions,
    random_match,
    refusals,
    spread,
    verdict,
    ways,
)

encode = msgspec.json.encode


def law_seats_with_decisions_have_legal_actions(table: Table) -> None:
    """A seat has at most one decision, and has legal actions exactly if it has one.

    The match ends, and nothing is legal afterwards.
    """
    game = table.game
    states = random_match(table).states
    for state in states if LONG else spread(states, 100):
        seats = [decision.seat for decision in game.decisions(state)]
        assert len(set(seats)) == len(seats), "a seat with two decisions"
        assert set(seats) <= {CLOCK, *range(table.seats)}
        for seat in range(table.seats):
            assert any(True for _ in game.legal_actions(state, seat)) == (seat in seats), (
                f"seat {seat} has a decision without legal actions, or the reverse"
            )
    end = positions(table, 2)[-1]
    assert not game.decisions(end.state), "a random match does not end"
    for seat in range(table.seats):
        for action in spread(pool(table), 10):
            assert_refused(table, end, Move(seat, action, end.now))


def law_lists_are_lazy_ordered_and_distinct(table: Table) -> None:
    for position in positions(table, 20):
        for seat in (CLOCK, *range(table.seats)):
            entries = table.game.legal_actions(position.state, seat)
            assert isinstance(entries, Iterator)
            assert not isinstance(entries, type(iter(())) | type(iter([]))), "not computed lazily"
            stored = [encode(entry) for entry in entries]
            assert stored == [encode(entry) for entry in table.game.legal_actions(position.state, seat)]
            assert len(set(stored)) == len(stored), "listed twice"
            assert seat != CLOCK or not stored, "the clock has no legal actions"


def law_listed_actions_are_accepted_and_others_refused(table: Table) -> None:
    """Within the decision's time window. Deciding never changes the state."""
    for position in positions(table, 16 if LONG else 5):
        before = encode(position.state)
        decisions = deciding(table, position.state)
        for seat in range(table.seats):
            legal = tuple(table.game.legal_actions(position.state, seat))
            at = in_time(decisions[seat], position.now) if seat in decisions else position.now
            for entry in spread(legal, 30 if LONG else 15):
                for action in ways(entry):
                    found = verdict(table, position, Move(seat, action, at))
                    assert not isinstance(found, Refusal), f"{action} is legal and refused: {found}"
            for action in _unlisted(table, position, legal):
                assert_refused(table, position, Move(seat, action, at))
        assert encode(position.state) == before, "a verdict changed the state"


def law_refusals_have_a_code_and_a_clause(table: Table) -> None:
    """Each refusal has a code, and the id of a clause in RULES.md."""
    clauses = set(re.findall(r"[A-Z]+-\d+", table.game.rules))
    for refusal in refusals(table):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", refusal.code), f"{refusal} has a malformed code"
        assert refusal.clause in clauses, f"{refusal} names no clause"


def law_actions_count_only_in_their_time_window(table: Table) -> None:
    """Nothing is accepted before a decision opens, or at and after its deadline.

    Only the clock rings a timer, at or after its deadline.
    """
    for position in positions(table, 16):
        decisions = deciding(table, position.state)
        for seat, decision in decisions.items():
            for entry in spread(tuple(table.game.legal_actions(position.state, seat)), 3):
                action = ways(entry)[0]
                if decision.opens_at is not None:
                    assert_refused(table, position, Move(seat, action, decision.opens_at - 1))
                if decision.deadline is not None:
                    assert_refused(table, position, Move(seat, action, decision.deadline))
        ring, at = Ring("bell"), position.now
        if CLOCK in decisions:
            deadline = decisions[CLOCK].deadline
            assert deadline is not None, "a timer without a deadline"
            ring, at = Ring(decisions[CLOCK].step), deadline
            assert_refused(table, position, Move(CLOCK, ring, deadline - 1))
            found = verdict(table, position, Move(CLOCK, ring, deadline))
            assert not isinstance(found, Refusal), f"a timer is refused when it is due: {found}"
        else:
            assert_refused(table, position, Move(CLOCK, ring, at))
        assert_refused(table, position, Move(CLOCK, Ring("no such label"), at))
        for seat in range(table.seats):
            assert_refused(table, position, Move(seat, ring, at))
        for action in spread(pool(table), 5):
            assert_refused(table, position, Move(CLOCK, action, position.now))


def law_a_match_of_absent_players_ends(table: Table) -> None:
    """A default action is legal. A decision without one has a deadline in the rules, and a timer closes it."""
    absent = absent_match(table)
    assert not table.game.decisions(absent.states[-1]), "a match without players does not end"
    left = tuple(Position(ply.before, ply.move.at, ply.counts) for ply in absent.plies)
    for position in (*spread(left, 50), *positions(table, 50)):
        decisions = deciding(table, position.state)
        for seat, decision in decisions.items():
            action = decision.on_timeout
            if action is None:
                assert decision.deadline is not None, "no default action and no deadline"
                assert CLOCK in decisions, "no default action and no timer"
                assert (decisions[CLOCK].deadline or 0) <= decision.deadline, "the timer is due after the deadline"
            else:
                assert decision.deadline is None, "a decision with a deadline of the rules has no default action"
                assert is_listed(action, table.game.legal_actions(position.state, seat)), (
                    "a default action is not in the legal list"
                )
                found = verdict(table, position, Move(seat, action, position.now))
                assert not isinstance(found, Refusal), f"a default action is refused: {found}"


def law_effects_depend_only_on_recorded_draws(table: Table) -> None:
    """The same state and draws give the same effects. Legality does not depend on draws, and a refusal makes none."""
    effects, rng = opening(table)
    once = encode((effects, rng.drawn))
    effects, rng = opening(table)
    assert encode((effects, rng.drawn)) == once, "setup is not deterministic"
    for ply in random_match(table).plies:
        rng = draws(key(table), ply.counts)
        effects = table.game.decide(ply.before, ply.move, rng)
        assert encode((effects, rng.drawn)) == encode((ply.effects, ply.drawn)), "a retry makes other draws"
    for position in positions(table, 10):
        for seat, decision in deciding(table, position.state).items():
            for action in spread(pool(table), 20):
                move = Move(seat, action, in_time(decision, position.now))
                rng, other = (draws(seed, position.counts) for seed in (key(table), "another"))
                refused = isinstance(verdict(table, position, move, rng), Refusal)
                assert refused == isinstance(verdict(table, position, move, other), Refusal), (
                    "legality depends on draws"
                )
                assert not (refused and rng.drawn), "a refusal made a draw"


def law_bots_choose_listed_actions(table: Table) -> None:
    """The choice depends only on the task and the draws. A bot may return None only where a timer limits the time."""
    for position in positions(table, 16 if LONG else 8):
        for seat, decision in deciding(table, position.state).items():
            legal = tuple(table.game.legal_actions(position.state, seat))
            if not legal:
                continue
            task: Task[Any, Any] = Task(seat, decision.step, table.game.observation(position.state, seat), legal)
            for name, bot in table.game.bots.items():
                chosen = bot(task, draws("bot"))
                assert chosen == bot(task, draws("bot")), f"{name} is not deterministic"
                if chosen is None:
                    assert decision.on_timeout is None, f"{name} returns None although no timer limits the time"
                    continue
                assert is_listed(chosen, legal), f"{name} chose an action that is not in the legal list"
                found = verdict(table, position, Move(seat, chosen, in_time(decision, position.now)))
                assert not isinstance(found, Refusal), f"{name} chose an illegal action: {found}"


def assert_refused(table: Table, position: Position, move: Move[Any]) -> None:
    assert isinstance(verdict(table, position, move), Refusal), f"{move} is accepted"


def _unlisted(table: Table, position: Position, legal: tuple[Action, ...]) -> Iterator[Action]:
    """Actions outside the legal list: of other positions and seats, with one field altered, and with misused patterns."""
    chance = draws("unlisted", position.counts)
    from_elsewhere = [one for kind in _by_type(table).values() for one in spread(_rotated(kind, chance), 8)]
    altered = [_altered(table, way, chance) for entry in spread(legal, 30) for way in ways(entry)]
    misused = [action for entry in spread(legal, 30) for action in _misused(entry)]
    for action in distinct((*from_elsewhere, *(action for action in altered if action is not None), *misused)):
        if not is_listed(action, legal):
            yield action


@cache
def _by_type(table: Table) -> Mapping[type[Action], tuple[Action, ...]]:
    found: dict[type[Action], list[Action]] = {}
    for action in pool(table):
        found.setdefault(type(action), []).append(action)
    return {kind: tuple(actions) for kind, actions in found.items()}


def _rotated(actions: Sequence[Action], chance: Rng) -> Sequence[Action]:
    first = chance.pick("first", range(len(actions)))
    return (*actions[first:], *actions[:first])


def _altered(table: Table, action: Action, chance: Rng) -> Action | None:
    """The action with one field, but no hint, taken from another action of its type."""
    fields = [name for name in action.__struct_fields__ if name not in hint_fields(type(action))]
    if not fields:
        return None
    name = chance.pick("field", fields)
    other = chance.pick("other", (*_by_type(table).get(type(action), ()), action))
    return msgspec.structs.replace(action, **{name: getattr(other, name)})


def _misused(entry: Action) -> Iterator[Action]:
    """The entry with its pattern unresolved, or with a choice that the pattern does not allow."""
    for name in entry.__struct_fields__:
        pattern = getattr(entry, name)
        if isinstance(pattern, AnyOf):
            items = pattern.any_of
            choices = (pattern, items[: pattern.min - 1], (*items, "no such item"), ("no such item",), items[:1] * 2)
            yield from (msgspec.structs.replace(entry, **{name: choice}) for choice in choices)


LAWS: Final[tuple[Callable[[Table], None], ...]] = (
    law_seats_with_decisions_have_legal_actions,
    law_lists_are_lazy_ordered_and_distinct,
    law_listed_actions_are_accepted_and_others_refused,
    law_refusals_have_a_code_and_a_clause,
    law_actions_count_only_in_their_time_window,
    law_a_match_of_absent_players_ends,
    law_effects_depend_only_on_recorded_draws,
    law_bots_choose_listed_actions,
)
